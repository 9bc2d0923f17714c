"""Classes that are given types between brackets, and what else brackets after a class may mean."""

from __future__ import annotations

import pytest

from tests.python.judging.test_causes import found

HEAD = """import enum
import random
from collections import defaultdict
from typing import Generic, TypeVar
T = TypeVar("T")

class Collector(Generic[T]):
    def __init__(self, env):
        self.env = env

    def collect(self):
        return random.random()

class Table(type):
    def __getitem__(cls, name):
        return Calm

class Calm:
    def collect(self):
        return 1

class Tables(metaclass=Table):
    def collect(self):
        return random.random()

class ByItem(Generic[T]):
    def __class_getitem__(cls, name):
        return Calm

    def collect(self):
        return random.random()

class Kind(enum.Enum):
    FAST = "fast"
    SLOW = "slow"
"""


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("Collector[int](1).collect()", True),
        ("Ints = Collector[int]\nInts(1).collect()", True),
        ("Collector[dict[str, int]](1).collect()", True),
        ("class Mine(Collector[T]):\n    pass\nMine[int](1).collect()", True),
        ("Tables[int]().collect()", False),
        ("ByItem[int]().collect()", False),
        ("found = defaultdict[str, list](list)\nfound['a'].append(Collector(1))\nfound['a'][0].collect()", True),
        ("if Kind['FAST'] == Kind.SLOW:\n    random.random()", False),
        ("if Kind['FAST'] == Kind.FAST:\n    random.random()", True),
    ],
)
def test_brackets_after_a_class(text: str, drawn: bool) -> None:
    assert bool(found(f"{HEAD}{text}\n", "unseeded-python")) is drawn
