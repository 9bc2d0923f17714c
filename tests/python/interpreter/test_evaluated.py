"""Names that a program evaluates: ``eval(args.runner)``; what else a text holds stays told as not followed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

RUNNERS = """import random


class Noisy:
    def run(self):
        print(random.random())


class Calm:
    def run(self):
        print(1)


def helper():
    print(random.gauss(0, 1))
"""
HEAD = """import argparse

import runners
from runners import *

parser = argparse.ArgumentParser()
parser.add_argument("--runner", default="Noisy")
parser.add_argument("--kind", choices=["Calm", "Noisy"], default="Calm")
parser.add_argument("--steps", default="[1, 2]")
parser.add_argument("--text", required=True)
args = parser.parse_args()
"""


@pytest.mark.parametrize(
    ("line", "drawn"),
    [
        ("eval('Noisy')().run()", [6]),
        ("eval('Calm')().run()", []),
        ("eval('runners.Noisy')().run()", [6]),
        ("eval('Noisy', globals())().run()", [6]),
        ("eval('Noisy', {'Noisy': Calm})().run()", []),
        ("eval(args.runner)().run()", [6]),
        ("eval(args.kind)().run()", [6]),
        ("eval('runners.' + args.runner)().run()", [6]),
        ("eval(f'runners.{args.text}')().run()", [6]),
        ("def main():\n    Chosen = Noisy\n    eval('Chosen')().run()\n\nmain()", [6]),
        ("eval('Noisy()').run()", [6]),
        ("eval('runners.Noisy()').run()", [6]),
        ("eval(args.runner + '()').run()", [6]),
        ("eval('runners.' + args.kind + '( )').run()", [6]),
        ("def go(one, two):\n    two().run()\n\neval('go(args, runners.Noisy)')", [6]),
        ("def go(one, two):\n    two().run()\n\neval('go(Noisy, Calm)')", []),
    ],
)
def test_a_name_is_followed(d9mlint: Callable[..., Ran], tmp_path: Path, line: str, drawn: list[int]) -> None:
    (tmp_path / "runners.py").write_text(RUNNERS)
    (tmp_path / "train.py").write_text(f"{HEAD}{line}\n")
    ran = d9mlint("check", "train.py", "--no-cache", "--format", "json")
    assert [one["line"] for one in ran.json["findings"] if one["path"] == "runners.py"] == drawn
    assert ran.json["coverage"][0]["unfollowed"] == []


@pytest.mark.parametrize(
    "line",
    [
        "print(eval(args.steps))",
        "eval(args.text)",
        "eval(args.runner + '(*args)').run()",
        "eval(args.text + '(1)')",
        "eval(f'print({args.text})')",
    ],
)
def test_other_texts_are_told(d9mlint: Callable[..., Ran], tmp_path: Path, line: str) -> None:
    (tmp_path / "runners.py").write_text(RUNNERS)
    (tmp_path / "train.py").write_text(f"{HEAD}{line}\n")
    (coverage,) = d9mlint("check", "train.py", "--no-cache", "--format", "json").json["coverage"]
    assert [one["reason"] for one in coverage["unfollowed"]] == ["it runs a text that is only known at run time"]


def test_what_is_called_is_told_by_its_name(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "runners.py").write_text(RUNNERS)
    text = HEAD.replace("required=True", 'default=""') + "eval('runners.' + args.text + '()')\n"
    (tmp_path / "train.py").write_text(text)
    (found,) = d9mlint("check", "train.py", "--no-cache", "--format", "json").json["findings"]
    assert (found["line"], found["when"]) == (15, ["--text is helper"])


def test_it_is_of_the_kind_of_the_default(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "runners.py").write_text(RUNNERS)
    (tmp_path / "train.py").write_text(f"{HEAD}eval(args.runner)().run()\n")
    (found,) = d9mlint("check", "train.py", "--no-cache", "--format", "json").json["findings"]
    assert found["when"] == ["--runner is Noisy (the default)"]


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("'runs.' + args.text + '.make'", ["runs/calm.py", "runs/noisy.py"]),
        ("f'runs.{args.text}.make'", ["runs/calm.py", "runs/noisy.py"]),
        ("f'runs.{args.kind}.make'", ["runs/noisy.py"]),
        ("f'runs.calm.{args.text}'", ["runs/calm.py"]),
        ("f'runs.{args.text}.calm.make'", []),
    ],
)
def test_modules_of_a_package_are_names_in_between(
    d9mlint: Callable[..., Ran], tmp_path: Path, text: str, drawn: list[str]
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "__init__.py").write_text("import runs.calm\nfrom . import noisy\n")
    for name in ("calm", "noisy"):
        (tmp_path / "runs" / f"{name}.py").write_text(
            f"import random\n\ndef make():\n    print('{name}', random.random())\n"
        )
    head = HEAD.replace("import runners\nfrom runners import *", "import runs").replace(
        '["Calm", "Noisy"], default="Calm"', '["noisy", "other"], default="noisy"'
    )
    (tmp_path / "train.py").write_text(f"{head}eval({text})()\n")
    found = d9mlint("check", "train.py", "--no-cache", "--format", "json").json["findings"]
    places = {one["path"] for one in found} | {place["path"] for one in found for place in one["related"]}
    assert sorted(places - {"train.py"}) == drawn
