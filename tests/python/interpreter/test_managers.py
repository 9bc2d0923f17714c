"""Context managers of the program: what stands after their ``yield`` happens when the block is left."""

from __future__ import annotations

import pytest

from tests.python.judging.test_causes import found

HEAD = """import random
from contextlib import contextmanager

class Policy:
    trains = False

    def draw(self):
        return random.random()

@contextmanager
def training(policy):
    policy.trains = True
    yield policy
    policy.trains = False

@contextmanager
def surely_training(policy):
    try:
        print("on")
        policy.trains = True
        yield policy
    finally:
        policy.trains = False

def update(policy):
    if not policy.trains:
        raise RuntimeError("not in training")
    return policy.draw()

policy = Policy()
"""


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("with training(policy):\n    update(policy)", True),
        ("with surely_training(policy):\n    update(policy)", True),
        ("with training(Policy()) as other:\n    update(other)", True),
        ("with training(policy), training(Policy()) as other:\n    update(policy)\n    update(other)", True),
        ("with training(policy):\n    print(1)\nwith training(policy):\n    update(policy)", True),
        ("with training(policy):\n    print(1)\nupdate(policy)", False),
        ("with surely_training(policy):\n    print(1)\nupdate(policy)", False),
        ("update(policy)", False),
        ("held = training(policy)\nwith held:\n    print(1)", False),
    ],
)
def test_what_comes_after_the_block(text: str, drawn: bool) -> None:
    assert bool(found(f"{HEAD}{text}\n", "unseeded-python")) is drawn
