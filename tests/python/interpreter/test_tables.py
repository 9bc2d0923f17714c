"""What a key that is not known picks out of tables, however many entries they have: no function in them is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HEAD = """import argparse
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from easydict import EasyDict

parser = argparse.ArgumentParser()
parser.add_argument("--name")
args = parser.parse_args()


@dataclass
class Setting:
    fn: Any
    n: int


class Registry(dict):
    def register(self, fn):
        self[fn.__name__] = fn
        return fn


TASKS = Registry()


def draw(n):
    return np.random.rand(n)


"""
DRAWS = 1 + HEAD.splitlines().index("    return np.random.rand(n)")
ENTRY = """def f{i}(n):
    return draw(n) + {i}


def returns_dict{i}():
    return dict(fn=f{i}, n={i})


def returns_pair{i}():
    return f{i}, {i}


class Net{i}:
    def run(self, n):
        return draw(n) + {i}


def returns_net{i}():
    return Net{i}(), {i}


@TASKS.register
def task{i}(n):
    return draw(n) + {i}


def returns_settings{i}():
    settings = SimpleNamespace(n={i})
    settings.fn = f{i}
    return settings


"""
FORMS = {
    "functions": ('"k{i}": f{i}', "TABLE[args.name](3)"),
    "lambdas": ('"k{i}": lambda: f{i}({i})', "TABLE[args.name]()"),
    "pairs": ('"k{i}": (f{i}, {i})', "(lambda pair: pair[0](pair[1]))(TABLE[args.name])"),
    "dicts": ('"k{i}": {{"fn": f{i}, "n": {i}}}', 'TABLE[args.name]["fn"](TABLE[args.name]["n"])'),
    "dicts of one function": ('"k{i}": dict(fn=draw, n={i})', 'TABLE[args.name]["fn"](3)'),
    "dicts in dicts": ('"k{i}": {{"net": {{"fn": f{i}}}, "n": {i}}}', 'TABLE[args.name]["net"]["fn"](3)'),
    "namespaces": ('"k{i}": SimpleNamespace(fn=f{i}, n={i})', "TABLE[args.name].fn(3)"),
    "nodes": ('"k{i}": EasyDict(fn=f{i}, n={i})', "TABLE[args.name].fn(3)"),
    "objects": ('"k{i}": Setting(f{i}, {i})', "TABLE[args.name].fn(3)"),
    "objects of many classes": ('"k{i}": Net{i}()', "TABLE[args.name].run(3)"),
    "under pairs": ('("a", "k{i}"): f{i}', 'TABLE["a", args.name](3)'),
    "a registry": ('"k{i}": {i}', "TASKS[args.name](3)"),
    "returned dicts": ('"k{i}": returns_dict{i}', 'TABLE[args.name]()["fn"](3)'),
    "returned pairs": ('"k{i}": returns_pair{i}', "TABLE[args.name]()[0](3)"),
    "returned objects": ('"k{i}": returns_net{i}', "TABLE[args.name]()[0].run(3)"),
    "returned settings": ('"k{i}": returns_settings{i}', "TABLE[args.name]().fn(3)"),
}


@pytest.mark.parametrize("number", [3, 9, 20])
@pytest.mark.parametrize("form", FORMS)
def test_functions_in_tables_are_found(d9mlint: Callable[..., Any], form: str, number: int) -> None:
    entry, use = FORMS[form]
    table = ", ".join(entry.format(i=i) for i in range(number))
    entries = "".join(ENTRY.format(i=i) for i in range(number))
    Path("train.py").write_text(f'{HEAD}{entries}TABLE = {{{table}}}\nnp.save("drawn.npy", {use})\n')
    (finding,) = d9mlint("train.py", "--format", "json").json["findings"]
    assert (finding["rule"], finding["line"]) == ("unseeded-numpy", DRAWS)


def test_entries_of_several_shapes(d9mlint: Callable[..., Any]) -> None:
    """A pair beside a function: only the pair has a part."""
    text = f'{HEAD}TABLE = {{"a": (draw, 1), "b": draw}}\nnp.save("drawn.npy", TABLE[args.name][0](3))\n'
    Path("train.py").write_text(text)
    (finding,) = d9mlint("train.py", "--format", "json").json["findings"]
    assert finding["when"] == ["--name is a"]


@pytest.mark.parametrize(("wanted", "found"), [("TRAIN", 1), ("EVAL", 0)])
def test_members_of_an_enumeration_are_told_apart(d9mlint: Callable[..., Any], wanted: str, found: int) -> None:
    """By whatever path the package is imported."""
    Path("train.py").write_text(
        "import numpy as np\nimport tensorflow as tf\nfrom tensorflow.compat.v1 import estimator\n\n\n"
        "def rows(mode):\n    if mode == estimator.ModeKeys.TRAIN:\n        return np.random.rand(3)\n    return np.ones(3)\n\n\n"
        f'np.save("rows.npy", rows(tf.estimator.ModeKeys.{wanted}))\n'
    )
    findings = d9mlint("train.py", "--format", "json", "--select", "unseeded-numpy").json["findings"]
    assert len(findings) == found
    assert all(not one["when"] for one in findings)
