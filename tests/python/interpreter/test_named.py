"""Named tuples and copies: what they hold is known, and what a copy is told leaves the original alone."""

from __future__ import annotations

import pytest

from tests.python.interpreter.test_story import calls, story

MADE = 'from collections import namedtuple\nPoint = namedtuple("Point", "x, y", defaults=[2])\n'
TYPED = 'from typing import NamedTuple\nPoint = NamedTuple("Point", [("x", int), ("y", int)])\n'
CLASS = """import copy
class Settings:
    def __init__(self):
        self.x = 1
        self.inner = {"y": [2]}
first = Settings()
"""


FLAGS = """import argparse
import copy
parser = argparse.ArgumentParser()
parser.add_argument("--seed")
args = parser.parse_args()
args.x, args.y = 1, 2
"""


@pytest.mark.parametrize(
    ("program", "holds"),
    [
        (f"{MADE}p = Point(1)\n", "p.x == 1 and p.y == 2"),
        (f"{MADE}p = Point(1, y=3)\n", "p[1] == 3"),
        (f"{MADE}a, b = Point(1, 3)\n", "b == 3"),
        (f"{MADE}p = Point(1)._replace(x=5)\n", "p.x == 5 and p.y == 2"),
        (f"{MADE}p = Point._make([4, 5])\n", "p.y == 5"),
        (f"{MADE}p = Point(1)._asdict()\n", 'p["y"] == 2'),
        (f"{TYPED}p = Point(1, 2)\n", "p.y == 2"),
        (f"{CLASS}other = copy.deepcopy(first)\nother.x = 7\n", "first.x == 1 and other.x == 7"),
        (f'{CLASS}other = copy.deepcopy(first)\nother.inner["y"] = 7\n', 'first.inner["y"][0] == 2'),
        (f'{CLASS}other = copy.copy(first)\nother.inner["y"] = 7\n', 'first.inner["y"] == 7'),
        ('import copy\na = {"x": 1}\nb = copy.copy(a)\nb["x"] = 2\n', 'a["x"] == 1 and b["x"] == 2'),
        ('a = {"x": 1}\nb = a.copy()\nb["x"] = 2\n', 'a["x"] == 1 and b["x"] == 2'),
        (f"{FLAGS}other = copy.deepcopy(args)\nother.x = 7\n", "args.x == 1 and other.x == 7 and other.y == 2"),
        ("a = [1]\nb = a.copy()\nb.append(2)\n", "a[-1] == 1 and b[1] == 2"),
        ("def f(x):\n    return locals().copy()\nb = f(1)\n", 'b["x"] == 1'),
    ],
)
def test_what_is_known_of_them(program: str, holds: str) -> None:
    text = f"{program}import random\nif {holds}:\n    random.random()\nelse:\n    random.shuffle([1])\n"
    drawn = [name for name in calls(story({"train.py": text})) if name.startswith("random.")]
    assert drawn == ["random.random"]


def test_what_is_unpacked_from_something_unknown_is_not_known() -> None:
    text = f"{MADE}import random\np = Point(*open('x').readlines())\nif p.x == 1:\n    random.random()\n"
    assert "random.random" in calls(story({"train.py": text}))
