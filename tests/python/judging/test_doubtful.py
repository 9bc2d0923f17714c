"""Names of functions and files speak against a gradient only where none is seen to pass through."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TRAIN = """import torch
import torch.nn.functional as F

net = torch.nn.Conv2d(3, 3, 1).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def {name}(x):
    return F.interpolate(x, scale_factor=2, mode="bilinear")


out = {name}(net(torch.load("images.pt").cuda()))
{loss}.backward()
optimizer.step()
"""
THROUGH, BESIDE = "out.sum()", "torch.nn.Conv2d(3, 3, 1).cuda()(torch.ones(1, 3, 8, 8).cuda()).sum()"


@pytest.mark.parametrize(
    ("name", "loss", "shown"),
    [
        ("enlarge", THROUGH, True),
        ("decode", THROUGH, True),
        ("decode", BESIDE, False),
        ("up_sample", BESIDE, True),
        ("sample", BESIDE, False),
    ],
)
def test_a_name_alone_takes_nothing_away(d9mlint: Callable[..., Any], name: str, loss: str, shown: bool) -> None:
    Path("train.py").write_text(TRAIN.format(name=name, loss=loss))
    arguments = ("train.py", "--format", "json", "--select", "nondeterministic-op", "--min-confidence")
    assert len(d9mlint(*arguments, "low").json["findings"]) == 1
    assert len(d9mlint(*arguments, "medium").json["findings"]) == int(shown)
