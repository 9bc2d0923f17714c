"""Weights that a program puts into every place of a network's state leave nothing of what the network was drawn with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
CONVERT = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(8))
        self.blocks = nn.ModuleList()
        self.blocks.append(nn.Linear(8, 8))

    def forward(self, x):
        return self.blocks[0](x) * self.scale


def renamed(other, state):
    {loop}
    return state


net = Net()
state = net.state_dict()
{before}
state = renamed(torch.load("other.pt")["params"], state)
torch.save(dict(params=state), "net.pt")
"""
ALL = """for name, value in state.items():
        if name.startswith("blocks"):
            old = name.replace("blocks", "layers")
        else:
            old = name
        if value.size() != other[old].size():
            raise ValueError(name)
        else:
            state[name] = other[old].t()"""
SOME = """for name in state:
        if name in other:
            state[name] = other[name]"""
MIXED = """for name, value in state.items():
        mean = value * 0.5
        state[name] = other[name] + mean"""
SKIPS = """for name in state:
        if name == "scale":
            continue
        state[name] = other[name]"""
OTHER = """for name in state:
        state[name + ".old"] = other[name]"""


@pytest.mark.parametrize(
    ("loop", "before", "told"),
    [
        (ALL, "", False),
        ("for name in list(state.keys()):\n        state[name] = other.get(name)", "", False),
        (SOME, "", True),
        (MIXED, "", True),
        (SKIPS, "", True),
        (OTHER, "", True),
        ("for name in state:\n        state[name] = state[name]", "", True),
        (
            "for name in state:\n        state[name] = first[name]",
            "first = {k: v.clone() for k, v in state.items()}",
            True,
        ),
        (ALL, "print(net(torch.ones(8)))", True),
        (ALL, "import report; report.show(net)", True),
    ],
)
def test_a_state_that_is_refilled_is_drawn_for_nothing(d9mlint: Run, loop: str, before: str, told: bool) -> None:
    Path("convert.py").write_text(CONVERT.replace("{loop}", loop).replace("{before}", before))
    found = d9mlint("convert.py", "--format", "json").json["findings"]
    assert any(one["rule"] == "unseeded-torch" for one in found) is told


TAKEN = """import torch
from torch import nn

net = nn.Linear(8, 8)
other = {other}
state = net.state_dict()
for name in state:
    state[name] = other[name]
net.load_state_dict(state)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(10):
    optimizer.zero_grad()
    net(torch.ones(8)).sum().backward()
    optimizer.step()
torch.save(net.state_dict(), "net.pt")
"""


@pytest.mark.parametrize(
    ("other", "told"),
    [("torch.load('other.pt')", False), ("{k: v.clone() for k, v in net.state_dict().items()}", True)],
)
def test_a_refilled_state_is_loaded(d9mlint: Run, other: str, told: bool) -> None:
    Path("train.py").write_text(TAKEN.replace("{other}", other))
    found = d9mlint("train.py", "--format", "json").json["findings"]
    assert any(one["rule"] == "unseeded-torch" for one in found) is told
