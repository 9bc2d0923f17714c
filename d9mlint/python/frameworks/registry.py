"""All frameworks."""

from __future__ import annotations

from d9mlint.python.frameworks.jax.hooks import Jax
from d9mlint.python.frameworks.libraries import Horovod, Numpy, Others
from d9mlint.python.frameworks.tensorflow.hooks import TensorFlow
from d9mlint.python.frameworks.torch.hooks import Torch
from d9mlint.python.interpreter.hooks import Framework

FRAMEWORKS: tuple[type[Framework], ...] = (TensorFlow, Jax, Torch, Numpy, Horovod, Others)
SAME_NUMBERS = tuple(name for one in FRAMEWORKS for name in one.same_numbers)
"""Calls that give the numbers that they are given, in the same order."""


def frameworks() -> tuple[Framework, ...]:
    """New instances of all of them, for one program."""
    return tuple(one() for one in FRAMEWORKS)
