"""What ``__new__`` of a class gives, and what is never None."""

from __future__ import annotations

import pytest

from d9mlint.catalogue import load
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.judging.judge import interpret
from d9mlint.python.project.files import Project

CATALOGUE, TARGET = load(), newest_target([], "cpu")


def draws(text: str) -> list[tuple[str, bool]]:
    """The draws of a program, and whether each happens whatever holds."""
    knowledge = Knowledge(CATALOGUE.aliases, CATALOGUE.effects, TARGET)
    told = interpret(Project({"train.py": text.encode()}.get), "train.py", ("",), knowledge, TARGET)
    events = (e for e in told.events if e.kind == "call" and e.name.startswith("random.") and not e.detached)
    return [(e.name, not e.guards) for e in events]


CLASSES = """
import random


class Small:
    def __init__(self, size):
        random.random()


class Large:
    def __init__(self, size):
        random.gauss(0, size)


"""


def test_new_makes_an_object_of_another_class() -> None:
    net = (
        "class Net:\n"
        "    def __new__(cls, size):\n"
        "        if size > 9:\n"
        "            return Large(size)\n"
        "        return Small(size)\n\n"
        "    def __init__(self, size):\n"
        "        random.shuffle([])\n\n\n"
    )
    assert draws(CLASSES + net + "Net(10)\n") == [("random.gauss", True)]
    assert draws(CLASSES + net + "Net(1)\n") == [("random.random", True)]


@pytest.mark.parametrize("made", ["super().__new__(cls)", "object.__new__(cls)"])
def test_new_makes_an_object_of_the_class_itself(made: str) -> None:
    net = (
        "class Net:\n"
        "    def __new__(cls, size):\n"
        f"        return {made}\n\n"
        "    def __init__(self, size):\n"
        "        random.random()\n\n\n"
    )
    assert draws(CLASSES + net + "Net(1)\n") == [("random.random", True)]


@pytest.mark.parametrize("seed", ["given + 1", "len(given)", "number + given"])
def test_what_is_computed_is_never_none(seed: str) -> None:
    start = "import json\nimport random\n\ngiven = json.loads(input())['given']\nfor number in range(9):\n"
    text = f"{start}    seed = {seed}\n    if seed is not None:\n        random.random()\n"
    assert draws(text) == [("random.random", True)]
    assert draws(text.replace(f"= {seed}", "= given")) == [("random.random", False)]
