"""Entries that reach nothing which a rule is about are not interpreted, and that is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran

from d9mlint.catalogue import load, read_examples
from d9mlint.catalogue.schema.examples import MARK
from d9mlint.python.batch.screen import Screen
from d9mlint.python.source.reading import as_python

CATALOGUE = load(full=True)


def screen(files: dict[str, bytes]) -> Screen:
    known = CATALOGUE
    return Screen(known.effects, known.ops, known.aliases, known.rules.values(), files.get)


def test_whatever_a_rule_finds_in_its_examples_is_looked_at() -> None:
    missed = []
    for rule in CATALOGUE.rules.values():
        for example in read_examples(rule):
            data = {
                name: as_python(name, text.encode())
                for name, text in example.files.items()
                if name.endswith((".py", ".ipynb"))
            }
            if data and any(map(MARK.search, example.files.values())) and not any(map(screen(data).matters, data)):
                missed.append((rule.name, sorted(data)))
    assert missed == []


@pytest.mark.parametrize(
    ("text", "matters"),
    [
        (b"import torch_geometric", True),
        (b"from gym import make", True),
        (b"import random", True),
        (b"parser.add_argument('--seed')", True),
        (b"names.append(hash(name))", True),
        (b"os.environ['PYTHONHASHSED'] = '0'", True),
        (b"os.environ['NCCL_ALGO'] = 'NVLS'", True),
        (b"import tkinter\nrandomize = rehash(1)", True),
        (b"import tkinter, os, json\nfor name in os.listdir(): print(set(name))", False),
    ],
)
def test_words(text: bytes, matters: bool) -> None:
    assert screen({"a.py": text}).matters("a.py") is matters


@pytest.mark.parametrize(
    ("match", "text", "matters"),
    [
        ({"env": "MY_MODE"}, b"os.environ['MY_MODE'] = 'fast'", True),
        ({"call": ["os.sched_setaffinity"]}, b"os.sched_setaffinity(0, {1})", True),
        ({"call": "mylib.fast.mode"}, b"from mylib import fast", True),
        ({"env": "MY_MODE"}, b"os.environ['OTHER_MODE'] = 'fast'", False),
    ],
)
def test_what_the_match_of_a_rule_asks_for_matters(match: dict[str, Any], text: bytes, matters: bool) -> None:
    rule = next(iter(CATALOGUE.rules.values()))._replace(match=match)
    assert Screen((), (), {}, [rule], {"a.py": text}.get).matters("a.py") is matters


def test_what_is_not_interpreted_is_told(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text("import helper\nif __name__ == '__main__':\n    helper.run()\n")
    (tmp_path / "helper.py").write_text("def run():\n    print('done')\n")
    ran = d9mlint("check", ".", "--no-cache", "--format", "json")
    assert ran.code == 0
    assert ran.json["coverage"] == [
        {"entry": "tool.py", "interpreted": False, "files": 2, "functions": 0, "uncalled": {}, "unfollowed": []}
    ]
    text = " ".join(d9mlint("check", ".", "--no-cache", "--verbose").out.split())
    assert "the program holds nothing that a rule is about" in text
    assert "2 files with nothing that a rule is about" in text


def test_what_cannot_be_read_is_told_all_the_same(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text("import helper\nif __name__ == '__main__':\n    helper.run()\n")
    (tmp_path / "helper.py").write_text("def run(:\n    pass\n")
    (tmp_path / "other.py").write_text("print 'hello'\ndef f(a, (b, c)): pass\nif __name__ == '__main__': pass\n")
    for _ in range(2):  # also out of the cache
        ran = d9mlint("check", ".", "--format", "json")
        assert ran.code == 3
        assert ran.json["unchecked"] == [
            {"path": "helper.py", "reason": "syntax error at line 1"},
            {"path": "other.py", "reason": "syntax error at line 1 (it looks like Python 2)"},
        ]


def test_an_edit_of_what_is_reached_is_seen(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text("import helper\nif __name__ == '__main__':\n    helper.run()\n")
    (tmp_path / "helper.py").write_text("def run():\n    print('done')\n")
    assert d9mlint("check", ".", "--format", "json").json["findings"] == []
    (tmp_path / "helper.py").write_text("import random\ndef run():\n    print(random.random())\n")
    (found,) = d9mlint("check", ".", "--format", "json").json["findings"]
    assert (found["rule"], found["path"]) == ("unseeded-python", "helper.py")


@pytest.mark.parametrize("line", ["importlib.import_module(name)", "exec(open(name).read())", "sys.path.insert(0, d)"])
def test_what_may_lead_elsewhere_is_followed_where_there_is_something(
    d9mlint: Callable[..., Ran], tmp_path: Path, line: str
) -> None:
    (tmp_path / "tool.py").write_text(f"import sys, importlib\nif __name__ == '__main__':\n    {line}\n")
    report = json.loads(d9mlint("check", ".", "--no-cache", "--format", "json").out)
    assert [one["interpreted"] for one in report["coverage"]] == [False]
    (tmp_path / "plugin.py").write_text("import torch\n")
    report = json.loads(d9mlint("check", ".", "--no-cache", "--format", "json").out)
    assert [one["interpreted"] for one in report["coverage"]] == [True]


def test_files_in_which_nothing_matters() -> None:
    files = {
        "train.py": b"import torch",
        "model.py": b"import train",
        "menu.py": b"import tkinter",
        "lazy.py": b"exec(a)",
    }
    closures = {
        "train.py": ["train.py"],
        "model.py": ["model.py", "train.py"],
        "menu.py": ["menu.py"],
        "lazy.py": ["lazy.py"],
    }
    assert screen(files).quiet({name: lambda found=found: found for name, found in closures.items()}) == {"menu.py"}


_MENU = """\
class Menu:
    def __init__(self, depth, title):
        self.items = [Menu(depth - 1, f"{title}.{n}") for n in range(3)] if depth else []

    def walk(self, visit, level):
        visit(level)
        for item in self.items:
            item.walk(visit, level + 1)
"""


def test_what_files_without_anything_that_matters_are_handed_is_still_followed(
    d9mlint: Callable[..., Ran], tmp_path: Path
) -> None:
    (tmp_path / "menu.py").write_text(_MENU)
    (tmp_path / "train.py").write_text(
        "import random\nfrom menu import Menu\n\n\ndef first(level):\n    print(level, random.random())\n\n\n"
        "def second(level):\n    print(level, random.random())\n\n\n"
        "if __name__ == '__main__':\n    menu = Menu(5, 'a')\n    menu.walk(first, 1)\n    menu.walk(second, 'b')\n"
    )
    (found,) = d9mlint("check", "train.py", "--format", "json").json["findings"]
    assert found["rule"] == "unseeded-python"
    assert sorted({found["line"], *(one["line"] for one in found["related"])}) == [6, 10]


_TRACED = """from functools import wraps


def traced(func):
    @wraps(func)
    def wrapper(*args, **kwargs):
        return func(*args, **kwargs)

    return wrapper
"""
_AGENT = """import numpy as np
from traced import traced


class Policy:
    @traced
    def prepare(self, scale):
        self.scale = scale

    @traced
    def act(self, state):
        return self.scale * np.random.rand()


class Agent:
    def __init__(self):
        self.policy = Policy()
        self.policy.prepare(2)

    @traced
    def act(self, state):
        return self.policy.act(state)


print(Agent().act(1))
"""


def test_wrappers_of_a_quiet_module_are_told_apart_by_what_they_wrap(d9mlint: Callable[..., Ran]) -> None:
    Path("traced.py").write_text(_TRACED)
    Path("train.py").write_text(_AGENT)
    told = d9mlint("train.py", "--format", "json").json
    assert [(one["line"], one["rule"]) for one in told["findings"]] == [(12, "unseeded-numpy")]
    (covered,) = told["coverage"]
    assert covered["uncalled"] == {}
