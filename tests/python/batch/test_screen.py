"""Entries that reach nothing which a rule is about are not interpreted, and that is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran

from d9mlint.catalogue import load, read_examples
from d9mlint.catalogue.examples import MARK
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
