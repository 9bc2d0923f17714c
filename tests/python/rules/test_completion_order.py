"""What `completion-order` says of parts and sums of results that come out of a queue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("taking", "words"),
    [
        (
            "number, share = done.get()\n        totals[number] += share / 4",
            "a sum, which rounds in the order of its parts",
        ),
        ("rest.append(done.get()[1])", "what it makes of them in turn"),
    ],
)
def test_a_part_of_one_result_is_no_item_by_its_number(d9mlint: Run, taking: str, words: str) -> None:
    Path("train.py").write_text(
        f"""from multiprocessing import Process, Queue

import numpy as np


def work(done, number):
    done.put((number, np.sum(np.ones(number))))


if __name__ == "__main__":
    done, totals, rest = Queue(), [0] * 8, []
    for number in range(8):
        Process(target=work, args=(done, number)).start()
    for _ in range(8):
        {taking}
"""
    )
    run = d9mlint("check", "--format", "json", "--select", "completion-order", "train.py")
    (finding,) = run.json["findings"]
    assert finding["message"].endswith(words)


def test_threads_are_to_be_waited_for(d9mlint: Run) -> None:
    Path("train.py").write_text("""from threading import Thread

import torch


def save(net, name):
    torch.save(net, name)
    with open("newest.txt", "w") as file:
        file.write(name)


net = torch.zeros(4)
for step in range(4):
    Thread(target=save, args=(net, f"{step}.pt")).start()
    if step % 2:
        Thread(target=save, args=(net, "newest.pt")).start()
""")
    (finding, *_) = d9mlint("train.py", "--format", "json", "--select", "completion-order").json["findings"]
    assert finding["remedy"].startswith("wait for a thread (`thread.join()`) before the next one is started")


@pytest.mark.parametrize(("step", "severity"), [("loss.backward(); optimizer.step()", "info"), ("pass", "warning")])
def test_what_threads_write_that_train_side_by_side_comes_of_that(d9mlint: Run, step: str, severity: str) -> None:
    Path("train.py").write_text(f"""from threading import Thread

import torch

torch.manual_seed(1)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
log = open("log.txt", "w")


def work(number):
    loss = net(torch.ones(4) * number).sum()
    {step}
    log.write(str(loss.item()))


threads = [Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
""")
    run = d9mlint("train.py", "--format", "json", "--select", "completion-order")
    assert [one["severity"] for one in run.json["findings"]] == [severity]
