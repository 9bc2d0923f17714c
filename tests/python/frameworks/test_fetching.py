"""A graph that holds a training step trains only where a session is asked for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

_BUILD = """\
import argparse
import collections

import tensorflow as tf

Net = collections.namedtuple("Net", "out, loss, train")
parser = argparse.ArgumentParser()
parser.add_argument("--mode", choices=["train", "test"], required=True)
args = parser.parse_args()
tf.set_random_seed(1)


def build():
    out = tf.layers.conv2d(tf.ones([2, 8, 8, 3]), 3, 3)
    loss = tf.nn.l2_loss(out)
    optimizer = tf.train.AdamOptimizer(0.1)
    step = optimizer.apply_gradients(optimizer.compute_gradients(loss))
    return Net(out, loss, tf.group(step, tf.assign_add(tf.train.get_or_create_global_step(), 1)))


net = build()
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
"""


def _when(d9mlint: Run, rest: str, *options: str) -> list[list[str]]:
    Path("train.py").write_text(_BUILD + rest)
    rules = "missing-determinism-switch,nondeterministic-op"
    checked = ("--select", rules, "--target", "tensorflow==1.15.5", *options)
    run = d9mlint("check", "--format", "json", *checked, "train.py")
    return [one["when"] for one in run.json["findings"]]


@pytest.mark.parametrize(
    "rest",
    [
        '    if args.mode == "test":\n        print(session.run(net.out))\n    else:\n        session.run(net.train)\n',
        '    if args.mode == "test":\n        print(session.run({"out": net.out}))\n    else:\n'
        '        fetches = {"train": net.train}\n        fetches["loss"] = net.loss\n        session.run(fetches)\n',
        '    session.run([net.loss, net.train] if args.mode == "train" else [net.out, net.loss])\n',
    ],
)
def test_a_step_that_one_mode_fetches_matters_there(d9mlint: Run, rest: str) -> None:
    (when,) = _when(d9mlint, rest)
    assert when == ["--mode is train"]


@pytest.mark.parametrize(
    "rest",
    [
        "    print(args.mode)\n    session.run(net.train)\n",
        # either branch runs it, and a list that grows may hold it
        '    if args.mode == "test":\n        session.run(net.train)\n    else:\n        session.run([net.loss, net.train])\n',
        '    todo = []\n    for one in open("ops.txt"):\n        todo.append(net.train)\n'
        '    if args.mode == "test":\n        session.run(todo)\n    else:\n        session.run(net.train)\n',
        # something else is handed the step
        '    if args.mode == "test":\n        net.train.run()\n    else:\n        session.run(net.train)\n',
    ],
)
def test_a_step_that_may_be_run_in_each_mode_matters_always(d9mlint: Run, rest: str) -> None:
    (when,) = _when(d9mlint, rest)
    assert when == []
