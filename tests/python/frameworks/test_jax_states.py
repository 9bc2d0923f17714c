"""States that each step makes anew (``state.replace(...)``) stay what they are, so that later steps are followed."""

from __future__ import annotations

import pytest

from tests.python.interpreter.test_story import calls, story
from tests.python.judging.test_conditions import found

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


GRAPHS = """import jax
import jax.numpy as jnp
import flax.linen as nn
import jraph
import optax
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, segments):
        x = nn.Dense(4)(x)
        return jraph.segment_mean(x, segments, 3)


@jax.jit
def train_step(state, x, segments):
    def loss_fn(params):
        out = {use}(params, x, segments)
        return out.sum()

    grads = jax.grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads)


def main():
    x, segments = jnp.ones((8, 4)), jnp.zeros(8, int)
    net = Net()
    params = {init}(jax.random.key(0), x, segments)
    state = train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(1e-3))
    for _ in range(10):
        state = train_step(state, x, segments)


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("init", "use"),
    [("jax.jit(net.init)", "str"), ("jax.eval_shape", "state.apply_fn")],
    ids=["initialized under jit", "called through its state"],
)
def test_the_network_of_a_state_is_followed(init: str, use: str) -> None:
    """Either is enough to see what it is made of."""
    (told,) = found({"train.py": GRAPHS.format(init=init, use=use)}, "missing-determinism-switch")
    assert "jraph.segment_mean" in told.message
