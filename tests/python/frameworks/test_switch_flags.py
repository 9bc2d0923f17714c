"""Switches on the command line: which one changes the default, and which values a flag can have at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
PROGRAM = """import argparse
import torch


def switch(parser, name, default):
    both = parser.add_mutually_exclusive_group(required=False)
    both.add_argument(f"--{{name}}", dest=name, action="store_true")
    both.add_argument(f"--no-{{name}}", dest=name, action="store_false")
    both.set_defaults(**{{name: default}})


parser = argparse.ArgumentParser()
{flags}
args = parser.parse_args()
torch.manual_seed(1)
torch.use_deterministic_algorithms(True)
net = torch.nn.Conv2d(3, 8, 3).cuda()
if {test}:
    torch.backends.cudnn.benchmark = True
net(torch.load("x.pt").cuda()).sum().backward()
"""
CASES = {
    "two switches, on by default": ('switch(parser, "tune", True)', "args.tune", ["--no-tune is not given"]),
    "two switches, off by default": ('switch(parser, "tune", False)', "args.tune", ["--tune is given"]),
    "always on": ('parser.add_argument("--tune", action="store_true", default=True)', "args.tune", []),
    "never": ('parser.add_argument("--tune", action="store_false", default=False)', "args.tune", None),
    "every choice": (
        'parser.add_argument("--mode", choices=["a", "b"], default="a")',
        'args.mode == "a" or args.mode == "b"',
        [],
    ),
    "a default that is no choice": (
        'parser.add_argument("--mode", choices=["a", "b"])',
        'args.mode == "a" or args.mode == "b"',
        ["--mode is a or b"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_when_a_switch_counts(d9mlint: Run, name: str) -> None:
    flags, test, when = CASES[name]
    Path("train.py").write_text(PROGRAM.format(flags=flags, test=test))
    found = d9mlint("train.py", "--format", "json", "--select", "cudnn-benchmark").json["findings"]
    assert [f["when"] for f in found] == ([] if when is None else [when])
