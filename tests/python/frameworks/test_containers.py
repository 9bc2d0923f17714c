"""Modules in ``Sequential``, ``ModuleList`` and ``ModuleDict`` run where they are called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

PROGRAM = """
import torch
from torch import nn

class Noise(nn.Module):
    def forward(self, x):
        return x + torch.randn(4)

class Row(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(4, 4), Noise())

class Grown(nn.Sequential):
    def __init__(self):
        super().__init__()
        for i in range(3):
            self.add_module(f"layer{{i}}", Noise())

    def forward(self, x):
        for layer in self:
            x = layer(x)
        return x

class Many(nn.ModuleList):
    def __init__(self):
        super().__init__([Noise(), Noise()])

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        {made}

    def forward(self, x):
        x = self.linear(x)
        {called}
        return x

torch.manual_seed(1)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
checkpoint = torch.load("last.pt")
net.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
for step in range(checkpoint["step"], 10):
    optimizer.zero_grad()
    net(torch.ones(8, 4)).sum().backward()
    optimizer.step()
    torch.save({{"model": net.state_dict(), "optimizer": optimizer.state_dict(), "step": step}}, "last.pt")
"""
LAYERS = "self.layers = nn.ModuleList([Noise() for _ in range(3)])"
HEADS = "self.heads = nn.ModuleDict({'a': Noise()})"
FLAGS = """
parser = argparse.ArgumentParser()
parser.add_argument("--noisy", action="store_true")
args = parser.parse_args()
torch.manual_seed(1)
"""
CALLED = {
    "in a loop": (LAYERS, "for layer in self.layers: x = layer(x)"),
    "counted": (LAYERS, "for i, layer in enumerate(self.layers): x = layer(x)"),
    "in pairs": (LAYERS, "for one, other in zip(self.layers, self.layers): x = one(x)"),
    "of a slice": (LAYERS, "for layer in self.layers[1:]: x = layer(x)"),
    "by its place": (LAYERS, "x = self.layers[-1](x)"),
    "by a place that is not known": (LAYERS, "for i in range(3): x = self.layers[i](x)"),
    "added": ("self.layers = nn.ModuleList(); self.layers.append(Noise())", "x = self.layers[0](x)"),
    "added with others": ("self.layers = nn.ModuleList(); self.layers.extend([Noise()])", "x = self.layers[0](x)"),
    "added by a sum": ("self.layers = nn.ModuleList(); self.layers += [Noise()]", "x = self.layers[0](x)"),
    "by its name": (HEADS, "x = self.heads['a'](x)"),
    "of all names": (HEADS, "for name, head in self.heads.items(): x = head(x)"),
    "put under a name": ("self.heads = nn.ModuleDict(); self.heads['a'] = Noise()", "x = self.heads['a'](x)"),
    "in a row": ("self.net = nn.Sequential(nn.Linear(4, 4), Noise())", "x = self.net(x)"),
    "in a row of a list": ("layers = [nn.ReLU(), Noise()]; self.net = nn.Sequential(*layers)", "x = self.net(x)"),
    "in a row in a row": ("self.net = nn.Sequential(nn.Sequential(Noise()), nn.ReLU())", "x = self.net(x)"),
    "in a row of its own": ("self.row = Row()", "x = self.row(x)"),
    "in a row that grows": ("self.row = Grown()", "x = self.row(x)"),
    "in a list of its own": ("self.many = Many()", "x = self.many[0](x)"),
    "of the children": ("self.net = nn.Sequential(Noise())", "for layer in self.net.children(): x = layer(x)"),
    "added by a name": ("self.add_module('noise', Noise())", "x = self.noise(x)"),
    "added to a row": ("self.net = nn.Sequential(); self.net.add_module('noise', Noise())", "x = self.net(x)"),
}


def _drawn(d9mlint: Run) -> list[int]:
    found = d9mlint("train.py", "--format", "json", "--select", "rng-not-checkpointed").json["findings"]
    return [one["line"] for each in found for one in each["related"] if "draws" in one["note"]]


@pytest.mark.parametrize("how", CALLED)
def test_what_a_container_holds_runs_where_it_is_called(d9mlint: Run, how: str) -> None:
    made, called = CALLED[how]
    Path("train.py").write_text(PROGRAM.format(made=made, called=called))
    assert _drawn(d9mlint) == [7]
    unused = "with torch.no_grad(): pass"
    Path("train.py").write_text(PROGRAM.format(made="pass", called=unused))
    assert _drawn(d9mlint) == []


def test_the_gradient_of_what_only_runs_without_one_is_not_told(d9mlint: Run) -> None:
    up = "return nn.functional.interpolate(self.conv(x), scale_factor=2, mode='bilinear')"
    text = PROGRAM.replace("return x + torch.randn(4)", up).replace("net = Net()", "net = Net().cuda()")
    conv = text.replace("class Noise(nn.Module):\n", "class Noise(nn.Module):\n    conv = nn.Linear(4, 4)\n")
    Path("train.py").write_text(conv.format(made=LAYERS, called="for layer in self.layers: x = layer(x)"))
    (found,) = d9mlint("train.py", "--format", "json", "--select", "nondeterministic-op").json["findings"]
    assert "interpolate" in found["message"]
    calm = "with torch.no_grad(): y = [layer(x) for layer in self.layers]"
    Path("train.py").write_text(conv.format(made=LAYERS, called=calm))
    assert d9mlint("train.py", "--format", "json", "--select", "nondeterministic-op").json["findings"] == []


def test_the_condition_of_a_call_is_that_of_what_a_container_holds(d9mlint: Run) -> None:
    text = f"import argparse\n{PROGRAM}".replace("torch.manual_seed(1)", FLAGS)
    Path("train.py").write_text(text.format(made=LAYERS, called="if args.noisy: x = self.layers[0](x)"))
    (found,) = d9mlint("train.py", "--format", "json", "--select", "rng-not-checkpointed").json["findings"]
    assert any("--noisy" in words for words in found["when"])


def test_what_nobody_is_seen_to_call_may_run_all_the_same(d9mlint: Run) -> None:
    Path("train.py").write_text(PROGRAM.replace("torch.manual_seed(1)\n", "").format(made=LAYERS, called="pass"))
    (found,) = d9mlint("train.py", "--format", "json", "--select", "unseeded-torch").json["findings"]
    assert 7 in [found["line"], *(one["line"] for one in found["related"])]
