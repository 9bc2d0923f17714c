"""Networks whose code is not there: what they most probably draw, and what says that they do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
TRAIN = """import torch
import parts

{made}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in torch.load("pairs.pt"):
    optimizer.zero_grad()
    (net(x) - y).pow(2).mean().backward()
    optimizer.step()
torch.save(net.state_dict(), "net.pt")
"""
SAMPLE = """import torch
import parts

net = {made}
with torch.no_grad():
    wave = net.{asked}
torch.save(wave, "wave.pt")
"""
INNER = """class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = parts.Net()

    def forward(self, x):
        return self.inner(x)


net = Net()"""


@pytest.mark.parametrize(
    ("made", "lines"),
    [
        ("net = parts.Net().cuda()", [4]),
        ("net = torch.nn.DataParallel(parts.Net().cuda())", [4]),
        ("net = parts.Wrapper(parts.Net().cuda())", [4]),
        ("net = torch.compile(parts.make_net('small'))", [4]),
        (INNER, [7]),
        ("net = getattr(parts, torch.load('name.pt'))(3).cuda()", [4]),
        ("net = torch.load('makers.pt')['small'](3).cuda()", [4]),
        ("net = parts.Net(torch.rand(3).tolist())", [4]),  # (told by the call that is seen to draw)
        ("torch.manual_seed(1)\nnet = parts.Net()", []),
        ("net = parts.Net(pretrained=True)", []),
        ("net = parts.load_net('small')", []),
        ("net = parts.Net(weights=None)", [4]),
        ("net = parts.Net()\nnet.load_state_dict(torch.load('old.pt'))", []),
        ("net = parts.Net()\nnet.load_state_dict(torch.load('old.pt'), strict=False)", [4]),
        ("net = torch.load('old.pt')", []),
    ],
)
def test_weights_are_drawn_where_they_are_trained(d9mlint: Run, made: str, lines: list[int]) -> None:
    Path("train.py").write_text(TRAIN.format(made=made))
    found = d9mlint("train.py", "--format", "json", "--select", "unseeded-torch").json["findings"]
    assert [f["line"] for f in found] == lines
    seen = "rand" in made
    assert all(("most probably draws (its code could not be read here)" in f["message"]) is not seen for f in found)
    assert all((f["confidence"] == "medium") is not seen for f in found)


def test_a_seed_that_comes_later_is_too_late(d9mlint: Run) -> None:
    Path("train.py").write_text(TRAIN.format(made="net = parts.Net()\ntorch.manual_seed(1)"))
    found = d9mlint("train.py", "--format", "json", "--select", "seed-after-use").json["findings"]
    assert [(f["line"], f["confidence"]) for f in found] == [(5, "medium")]


def test_weights_are_loaded_if_a_flag_says_so(d9mlint: Run) -> None:
    flag = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--resume')\nargs = parser.parse_args()\n"
    load = "net = parts.Net()\nif args.resume:\n    net.load_state_dict(torch.load(args.resume))"
    Path("train.py").write_text(TRAIN.format(made=flag + load))
    found = d9mlint("train.py", "--format", "json", "--select", "unseeded-torch").json["findings"]
    assert [f["when"] for f in found] == [["--resume is not given"]]


@pytest.mark.parametrize(
    ("made", "asked", "told"),
    [
        ("parts.WaveNet().cuda().eval()", "incremental_forward(8000)", True),
        ("parts.vocoder.build().eval()", "infer(torch.load('mel.pt'), sigma=0.6)", True),
        ("parts.vocoder.build().eval()", "infer(torch.load('mel.pt'), sigma=0)", False),
        ("parts.vocoder.build().eval()", "infer(torch.load('mel.pt'))", False),
        ("torch.load('glow.pt')['model']", "infer(torch.load('mel.pt'), sigma=0.6)", True),
        ("torch.hub.load('someone/hub', 'waveglow').eval()", "infer(torch.load('mel.pt'))", True),
        ("torch.hub.load('someone/hub', 'resnet').eval()", "infer(torch.load('mel.pt'))", False),
        ("parts.WaveNet().cuda().eval()", "encode(torch.load('mel.pt'))", False),
    ],
)
def test_names_and_arguments_tell_what_is_drawn(d9mlint: Run, made: str, asked: str, told: bool) -> None:
    Path("sample.py").write_text(SAMPLE.format(made=made, asked=asked))
    found = d9mlint("sample.py", "--format", "json", "--select", "unseeded-torch").json["findings"]
    assert [f["line"] for f in found] == [6] * told
