"""Whole numbers of which something is known: how many there are of something, and how far a loop has counted."""

from __future__ import annotations

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import FlagValue, Seq, Unknown, Value

_LENGTH = "length"
"""The origin of a number that says how many there are of something."""


class Length(Unknown):
    """How many items a list has, which may get more in a loop, or what a flag gives; ``of`` is the list or the flag."""

    __slots__ = ("of",)

    def __init__(self, of: Seq | FlagValue) -> None:
        super().__init__(frozenset({_LENGTH, "int"}))
        self.of = of


class LengthInOrder(Unknown):
    """How many there are of something in no promised order; ``place`` is a number that counts through all of that."""

    __slots__ = ("place",)

    def __init__(self, order: str, made_of: tuple[Event, ...], listings: tuple[Event, ...]) -> None:
        super().__init__(frozenset({_LENGTH, "int"}), "", listings)
        self.place = Place(order, made_of)


class Place(Unknown):
    """The place of each in turn; what it picks out of these comes in their order, as the number ``in_order`` does."""

    __slots__ = ("in_order",)

    def __init__(self, order: str, made_of: tuple[Event, ...]) -> None:
        super().__init__(frozenset({"int"}))
        self.in_order = Unknown(frozenset({"int"}), order, made_of)


class Counted(Unknown):
    """A number that a loop counts with, of which the ``least`` is known: ``for epoch in range(epochs, 0, -1)``."""

    __slots__ = ("least",)

    def __init__(self, least: int) -> None:
        super().__init__(frozenset({"int"}))
        self.least = least


def is_count(value: Value) -> bool:
    """Whether a value says how many there are of something."""
    return isinstance(value, Unknown) and _LENGTH in value.origins
