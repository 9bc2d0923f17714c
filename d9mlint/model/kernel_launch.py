"""How a kernel is launched to see whether its results depend on the order of its threads."""

from __future__ import annotations

from typing import NamedTuple

ELEMENTS = {
    "float32": ("float", "REAL", 4), "float64": ("double", "REAL", 8),
    "int8": ("int8_t", "WHOLE", 1), "uint8": ("uint8_t", "WHOLE", 1), "int16": ("int16_t", "WHOLE", 2),
    "int32": ("int32_t", "WHOLE", 4), "uint32": ("uint32_t", "WHOLE", 4),
    "int64": ("int64_t", "WHOLE", 8), "uint64": ("uint64_t", "WHOLE", 8), "bool": ("bool", "TRUTH", 1),
}  # fmt: skip
"""What a buffer or a scalar may hold: its type in C++, the kind of number, bytes of an element."""


class Operand(NamedTuple):
    """One argument of a kernel: a buffer, a scalar (``value``), or a C++ expression over the buffers (``code``)."""

    name: str
    dtype: str = "float32"
    shape: tuple[int, ...] = ()
    values: str = "normal"
    """One of ``d9mlint.model.case.VALUES``, for a buffer."""
    low: float = 0.0
    high: float = 1.0
    """Uniform numbers lie in [low, high), indices too."""
    output: bool = False
    """Its bits are compared."""
    passed: bool = True
    """False for a buffer that only the code of another argument names."""
    value: int | float | bool | None = None
    code: str = ""

    @property
    def is_buffer(self) -> bool:
        """Whether it is memory."""
        return self.value is None and not self.code


class KernelLaunch(NamedTuple):
    """A kernel with what it needs to be run."""

    name: str
    """Tells the launch from the others."""
    kernel: str
    """The function's name, qualified where it lies in a namespace."""
    source: str
    """Its file, as a path from the working directory."""
    template: tuple[str, ...] = ()
    """All template arguments, as C++ text."""
    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    grid: tuple[int, ...] = (1,)
    block: tuple[int, ...] = (1,)
    shared: int = 0
    """Bytes of dynamic shared memory."""
    arguments: tuple[Operand, ...] = ()

    @property
    def buffers(self) -> tuple[Operand, ...]:
        """The arguments that are memory, in order."""
        return tuple(one for one in self.arguments if one.is_buffer)

    @property
    def signature(self) -> str:
        """The kernel with its template arguments."""
        return f"{self.kernel}<{', '.join(self.template)}>" if self.template else self.kernel

    @property
    def dtype(self) -> str:
        """The dtypes of what is compared."""
        return ", ".join(dict.fromkeys(one.dtype for one in self.buffers if one.output))
