"""How an op is executed to see whether it varies: small made-up inputs, a call, what is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

VALUES = ("normal", "uniform", "index", "sorted-index", "zeros", "ones")
"""How the elements of an input are drawn."""
EXECUTIONS = {
    "tensorflow": ("eager", "function", "xla"),
    "torch": ("eager", "compiled"),
    "jax": ("eager", "jit"),
    "numba": ("jit",),
    "triton": ("jit",),
}
"""How a case can be run: op by op, as a ``tf.function``, by XLA, by ``torch.compile``, as a function that is compiled
when it is first called. The first is the default; frameworks that are not named here run op by op."""
DTYPES = ("float16", "bfloat16", "float32", "float64", "int32", "int64", "uint8", "bool", "complex64")
FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64")


class Input(NamedTuple):
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
    scaled: tuple[int, ...] = ()
    """The dimensions that grow where the case is to fill a larger device."""

    def times(self, factor: int) -> Input:
        """The input with its scaled dimensions so many times as large."""
        shape = (size * factor if place in self.scaled else size for place, size in enumerate(self.shape))
        return self._replace(shape=tuple(shape))


class Case(NamedTuple):
    """An executable example of an op; a list of dtypes or executions in the catalogue gives a case for each."""

    op: str
    framework: str
    direction: str
    run: str
    """The call, a Python expression over the inputs, what ``make`` made, and the framework."""
    name: str = ""
    inputs: tuple[Input, ...] = ()
    make: Mapping[str, str] = {}
    """Objects made once, in order, before the first run: layers, sparse tensors; expressions over the inputs."""
    gradient: tuple[str, ...] = ()
    """What the result is differentiated by, with a random upstream gradient: inputs, or expressions for variables."""
    define: str = ""
    """Functions that the expressions may call: kernels, which are no expressions."""
    scale: Mapping[str, int] = {}
    """By device: how many times as large the scaled dimensions are there."""
    execution: str = "eager"
    dtype: str = "float32"
    devices: tuple[str, ...] = ("gpu", "cpu")
    about: tuple[str, ...] = ()
    """Devices that the op's entry is about; on others an observation says nothing of the entry."""
    versions: tuple[str, ...] = ()
    """Those of the framework that the op's entry is about."""
    autocast: str = ""
    """The type that ``torch.autocast`` computes in around the call."""
    like: str = ""
    """``path:line`` of the call of a program that the case was made like."""
    file: str = ""
    """A file of the user's with ``make`` and ``run``, which takes the place of inputs."""
    instead: Case | None = None
    """What is to be executed where the op refuses this one: the sizes of a program's call may not go together."""

    def on(self, device: str) -> Case:
        """The case with inputs as large as the device wants them."""
        factor = self.scale.get(device, 1)
        return self if factor == 1 else self._replace(inputs=tuple(one.times(factor) for one in self.inputs))

    @property
    def key(self) -> str:
        """Tells the case from all others."""
        like = f"as in {self.like}" if self.like else ""
        parts = (self.op, self.name, self.direction, self.execution, self.dtype, like)
        return " / ".join(part for part in parts if part)
