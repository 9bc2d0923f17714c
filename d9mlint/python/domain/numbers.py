"""Whole numbers of which something is known: how many there are of something, and how far a loop has counted."""

from __future__ import annotations

from d9mlint.python.domain.values import FlagValue, Seq, Unknown, Value

_LENGTH = "length"
"""The origin of a number that says how many there are of something."""


class Length(Unknown):
    """How many items a list has, which may get more in a loop, or what a flag gives; ``of`` is the list or the flag."""

    __slots__ = ("of",)

    def __init__(self, of: Seq | FlagValue) -> None:
        super().__init__(frozenset({_LENGTH, "int"}))
        self.of = of


class Counted(Unknown):
    """A number that a loop counts with, of which the ``least`` is known: ``for epoch in range(epochs, 0, -1)``."""

    __slots__ = ("least",)

    def __init__(self, least: int) -> None:
        super().__init__(frozenset({"int"}))
        self.least = least


def is_count(value: Value) -> bool:
    """Whether a value says how many there are of something."""
    return isinstance(value, Unknown) and _LENGTH in value.origins
