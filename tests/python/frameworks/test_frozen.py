"""Weights without gradients: what a frozen part of a network computes is no reason for a warning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
TRAIN = """import torch
import timm

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8))
        self.blocks = torch.nn.ModuleList([torch.nn.Linear(8, 8) for _ in range(4)])
        self.fc = torch.nn.Linear(8, 2)

torch.manual_seed(1)
net = {made}
net.cuda()
{froze}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.load("x.pt").cuda()).sum()
loss.backward()
optimizer.step()
"""
PUBLISHED, OWN = "timm.create_model('resnet18', pretrained=True)", "Net()"
FREEZE = "for p in net.parameters():\n    p.requires_grad = {}\n"
CASES = [
    (PUBLISHED, "", "warning"),
    (PUBLISHED, FREEZE.format(False), "info"),
    (PUBLISHED, FREEZE.format(True), "warning"),
    (PUBLISHED, "net.requires_grad_(False)", "info"),
    (PUBLISHED, "for p in net.parameters():\n    p.requires_grad_(False)\n", "info"),
    (PUBLISHED, FREEZE.format(False) + "net.fc = torch.nn.Linear(512, 2).cuda()", "info"),
    (PUBLISHED, FREEZE.format(False) + FREEZE.format(True), "warning"),
    (PUBLISHED, FREEZE.format(True) + FREEZE.format(False), "warning"),
    (
        PUBLISHED,
        FREEZE.format(False) + "for p in net.get_classifier().parameters():\n    p.requires_grad = True",
        "info",
    ),
    (PUBLISHED, FREEZE.format(False) + "for p in net.layer4.parameters():\n    p.requires_grad = True", "warning"),
    (PUBLISHED, "import sys\nif len(sys.argv) > 1:\n    net.requires_grad_(False)", "warning"),
    (OWN, "", "warning"),
    (OWN, "net.body.requires_grad_(False)", ""),  # all is seen, nothing varies
    (OWN, "for p in net.body.parameters():\n    p.requires_grad = False", ""),
    (OWN, "net.fc.requires_grad_(False)", "warning"),
    (OWN, "net.body.requires_grad_(False)\nx = torch.ones(3)\nx.requires_grad = True", ""),  # a tensor by itself
    (OWN, FREEZE.format(False) + "for p in net.blocks[-1].parameters():\n    p.requires_grad = True", ""),
    (OWN, FREEZE.format(False) + "for p in net.body[1].parameters():\n    p.requires_grad = True", ""),
    (OWN, FREEZE.format(False) + "for p in net.body[0].parameters():\n    p.requires_grad = True", "warning"),
    (f"{OWN} if torch.load('wide.pt') else Net()", FREEZE.format(False), ""),  # one of two, each as a whole
]


@pytest.mark.parametrize(("made", "froze", "severity"), CASES)
def test_frozen_convolutions_are_no_reason_to_warn(d9mlint: Run, made: str, froze: str, severity: str) -> None:
    Path("train.py").write_text(TRAIN.format(made=made, froze=froze))
    found = d9mlint("train.py", "--format", "json", "--select", "missing-torch-determinism").json["findings"]
    assert [f["severity"] for f in found] == ([severity] if severity else [])


def test_what_a_flag_thaws_varies_when_the_flag_says_so(d9mlint: Run) -> None:
    flag = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--train', default='last')\n"
    thaw = "if parser.parse_args().train == 'all':\n    net.requires_grad_(True)"
    Path("train.py").write_text(TRAIN.format(made=OWN, froze=flag + FREEZE.format(False) + thaw))
    found = d9mlint("train.py", "--format", "json", "--select", "missing-torch-determinism").json["findings"]
    assert [f["when"] for f in found] == [["--train is all"]]
