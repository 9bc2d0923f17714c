"""One atomic instruction of GPU code, whichever kind of code it stands in."""

from __future__ import annotations

from typing import NamedTuple


class Instruction(NamedTuple):
    """What the code shows of an atomic; ``judge`` makes a verdict of it."""

    function: str
    """The mangled name of the function around it."""
    kernel: bool
    name: str
    """As written: ``atom.global.add.f32``, ``RED.ADD.F32`` ..."""
    operation: str
    """``add``, ``min``, ``max``, ``inc``, ``dec``, ``and``, ``or``, ``xor``, ``exch``, ``cas``; empty: not known."""
    type: str
    """``f32``, ``u64``, ``b32`` ..., as in PTX."""
    memory: str
    scope: str
    use: str
    """Of the old value, as in ``model.Site``: ``unused``, ``ticket`` or ``value``."""
    line: int
    column: int
    width: int
    loop: bool = False
    """For a compare-and-swap: whether it is repeated until it succeeds."""
    computes: tuple[str, ...] = ()
    """For a compare-and-swap: the arithmetic between the old value and the new one (``add.f32``), sorted."""
    operand: str = ""
    """What is known of the value that is brought: ``nan``, ``same`` (a constant), ``whole`` (a converted integer)."""

    @property
    def floating(self) -> bool:
        """Whether it works on floating-point numbers."""
        return is_float(self.type)


def is_float(type_: str) -> bool:
    """Whether a PTX type is floating-point: ``f32``, ``bf16x2`` ..."""
    return "f" in type_
