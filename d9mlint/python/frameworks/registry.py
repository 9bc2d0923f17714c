"""All frameworks, and what they know of the uses of their ops."""

from __future__ import annotations

from collections.abc import Mapping

from d9mlint.model import Op
from d9mlint.python.frameworks.dali import Dali
from d9mlint.python.frameworks.environments import Environments
from d9mlint.python.frameworks.jax.hooks import Jax
from d9mlint.python.frameworks.jax.ops import JaxOps
from d9mlint.python.frameworks.libraries import Diffusers, Horovod, Numpy, Others, Tables
from d9mlint.python.frameworks.opuses import OpUses
from d9mlint.python.frameworks.paddle import Paddle
from d9mlint.python.frameworks.ray import Ray
from d9mlint.python.frameworks.tensorflow.hooks import TensorFlow
from d9mlint.python.frameworks.tensorflow.ops import TensorFlowOps
from d9mlint.python.frameworks.torch.hooks import Torch
from d9mlint.python.frameworks.torch.ops.uses import TorchOps
from d9mlint.python.frameworks.tune import Tune
from d9mlint.python.interpreter.hooks import Framework

FRAMEWORKS: tuple[type[Framework], ...] = (
    TensorFlow,
    Jax,
    Torch,
    Numpy,
    Tables,
    Horovod,
    Environments,
    Dali,
    Diffusers,
    Paddle,
    Ray,
    Tune,
    Others,
)
SAME_NUMBERS = tuple(name for one in FRAMEWORKS for name in one.same_numbers)
"""Calls that give the numbers that they are given, in the same order."""

OP_USES: Mapping[str, OpUses] = {"tensorflow": TensorFlowOps(), "jax": JaxOps(), "torch": TorchOps()}
"""By framework; ops of others are judged as TensorFlow's."""


def judged_as(op: Op) -> str:
    """The framework as whose an op is judged."""
    return op.framework if op.framework in OP_USES else "tensorflow"


def frameworks() -> tuple[Framework, ...]:
    """New instances of all of them, for one program."""
    return tuple(one() for one in FRAMEWORKS)
