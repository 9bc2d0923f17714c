"""How an op is executed to see whether it varies: small made-up inputs, a call, what is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

VALUES = ("normal", "uniform", "index", "sorted-index", "zeros", "ones")
"""How the elements of an input are drawn."""
EXECUTIONS = ("eager", "function", "xla")
"""How a case is run: op by op, as a ``tf.function``, compiled by XLA."""
DTYPES = ("float16", "bfloat16", "float32", "float64", "int32", "int64", "uint8", "bool", "complex64")
FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64")


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a case, drawn anew from a seed in every process; never constant-folded, as it is an argument."""

    name: str
    shape: tuple[int, ...]
    values: str = "normal"
    dtype: str = ""
    """Empty: the dtype of the case for real numbers, int64 for indices."""
    below: int = 0
    """Indices lie in [0, below): few of them for many elements make the collisions that show a race."""
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True, slots=True)
class Case:
    """An executable example of an op; a list of dtypes or executions in the catalogue gives a case for each."""

    op: str
    framework: str
    direction: str
    run: str
    """The call, a Python expression over the inputs, what ``make`` made, and the framework."""
    name: str = ""
    inputs: tuple[Input, ...] = ()
    make: Mapping[str, str] = field(default_factory=dict)
    """Objects made once, in order, before the first run: layers, sparse tensors; expressions over the inputs."""
    gradient: tuple[str, ...] = ()
    """What the result is differentiated by, with a random upstream gradient: inputs, or expressions for variables."""
    execution: str = "eager"
    dtype: str = "float32"
    devices: tuple[str, ...] = ("gpu", "cpu")
    about: tuple[str, ...] = ()
    """Devices that the op's entry is about; on others an observation says nothing of the entry."""

    @property
    def key(self) -> str:
        """Tells the case from all others."""
        parts = (self.op, self.name, self.direction, self.execution, self.dtype)
        return " / ".join(part for part in parts if part)
