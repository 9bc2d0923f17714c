"""States that each step makes anew (``state.replace(...)``) stay what they are, so that later steps are followed."""

from __future__ import annotations

import pytest

from tests.python.interpreter.test_story import calls, story

STATES = {
    "a subclass of PyTreeNode": "class State(struct.PyTreeNode):",
    "a dataclass of Flax": "@struct.dataclass\nclass State:",
    "a dataclass of chex": "@chex.dataclass(frozen=True)\nclass State:",
}
PROGRAM = """import os
import chex
import dataclasses
import jax
from flax import struct
from flax.training import checkpoints

{}
    key: int

    def step(self):
        return self.replace(key=self.key + 1)

    def last(self):
        os.getpid()


"""


@pytest.mark.parametrize("head", STATES.values(), ids=STATES)
@pytest.mark.parametrize(
    "use",
    [
        "State(key=1).step().last()",
        "state = State(key=1)\nfor _ in range(9):\n    state = state.step()\nstate.last()",
        "checkpoints.restore_checkpoint('out', State(key=1)).last()",
        "dataclasses.replace(State(key=1), key=2).last()",
    ],
)
def test_methods_of_a_new_state_are_followed(head: str, use: str) -> None:
    assert "os.getpid" in calls(story(PROGRAM.format(head) + use))


def test_named_tuples() -> None:
    text = "import os\nfrom typing import NamedTuple\nclass S(NamedTuple):\n    k: int\n    def last(self):\n        os.getpid()\n"
    assert "os.getpid" in calls(story(f"{text}S(1)._replace(k=2).last()"))


def test_what_is_restored_without_a_state_is_not_known() -> None:
    text = "from flax.training import checkpoints\ncheckpoints.restore_checkpoint('out', None).last()"
    assert not any(name.startswith("os.") for name in calls(story(text)))
