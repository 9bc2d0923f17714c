"""Remedies for what happens in processes that are started afresh name the function that runs there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
TRAIN = """import torch
import torch.multiprocessing as mp

def work(rank, loader):
    net = torch.nn.Linear(4, 1)
    for rows in loader:
        net(rows).sum().backward()

def main():
    {method}
    loader = torch.utils.data.DataLoader(torch.load("rows.pt"), shuffle=True)
    {start}

if __name__ == "__main__":
    main()
"""
THERE = "where `work` runs in a process of its own, at its start"
METHOD = "mp.set_start_method('spawn')"


@pytest.mark.parametrize(
    ("method", "start", "there"),
    [
        (METHOD, "mp.Process(target=work, args=(0, loader)).start()", True),
        ("", "mp.spawn(work, args=(loader,), nprocs=2)", True),
        ("", "work(0, loader)", False),
    ],
)
def test_a_remedy_names_the_function_of_another_process(d9mlint: Run, method: str, start: str, there: bool) -> None:
    Path("train.py").write_text(TRAIN.format(method=method, start=start))
    for rule in ("unseeded-shuffle", "unseeded-torch"):
        (found,) = d9mlint("train.py", "--format", "json", "--select", rule).json["findings"]
        assert (found["rule"], THERE in found["remedy"]) == (rule, there)


@pytest.mark.parametrize(
    ("start", "apart"),
    [
        ("mp.Process(target=work, args=(0, loader)).start()", False),
        ("[mp.Process(target=work, args=(rank, loader)).start() for rank in range(4)]", True),
        ("for rank in range(4):\n        mp.Process(target=work, args=(rank, loader)).start()", True),
        ("mp.spawn(work, args=(loader,), nprocs=2)", True),
    ],
)
def test_processes_that_run_the_same_function_are_told_to_be_seeded_apart(
    d9mlint: Run, start: str, apart: bool
) -> None:
    Path("train.py").write_text(TRAIN.format(method=METHOD, start=start))
    (one,) = d9mlint("train.py", "--format", "json", "--select", "unseeded-torch").json["findings"]
    assert ("; add the number of the process to the seed" in one["remedy"]) is apart
