"""Sets of the values that a command-line flag can have: what tests of flags divide them into.

A set is kept in one form only, so that equal sets are equal tuples. Values are None, numbers (``True`` is 1), texts,
and others, of which nothing is known but that they are true.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

Cut = tuple[float, int]
"""A place on the line of numbers: just before a number (0), or just after it (1)."""


class ValueSet(NamedTuple):
    """A set of values."""

    none: bool
    below: bool
    """Whether it holds the numbers before the first cut."""
    cuts: tuple[Cut, ...]
    """Where it begins to hold numbers, or ends to."""
    texts: frozenset[str]
    but: bool
    """Whether it holds all texts but these."""
    others: bool

    def __bool__(self) -> bool:
        return self != NOTHING

    def holds(self, value: Any) -> bool:
        """Whether a value is in it; one that is no constant of a known kind counts as one of the others.

        An empty list does for an empty text, which is as false.
        """
        value = "" if value == () else value
        if value is None:
            return self.none
        if isinstance(value, (int, float)):
            return self.below is (sum(cut <= (value, 0) for cut in self.cuts) % 2 == 0)
        return (value in self.texts) is not self.but if isinstance(value, str) else self.others

    def inverse(self) -> ValueSet:
        """All other values."""
        return ValueSet(not self.none, not self.below, self.cuts, self.texts, not self.but, not self.others)

    def meet(self, other: ValueSet) -> ValueSet:
        """The values that are in both."""
        below, cuts = _met(self, other)
        if self.but and other.but:
            texts = self.texts | other.texts
        elif self.but or other.but:
            texts = other.texts - self.texts if self.but else self.texts - other.texts
        else:
            texts = self.texts & other.texts
        return ValueSet(
            self.none and other.none, below, cuts, texts, self.but and other.but, self.others and other.others
        )  # fmt: skip

    def join(self, other: ValueSet) -> ValueSet:
        """The values that are in either."""
        return self.inverse().meet(other.inverse()).inverse()


def _met(one: ValueSet, other: ValueSet) -> tuple[bool, tuple[Cut, ...]]:
    """The numbers that are in both."""
    for each, rest in ((one, other), (other, one)):
        if not each.cuts:  # all numbers, or none
            return (rest.below, rest.cuts) if each.below else (False, ())
    a, b = one.below, other.below
    below = now = a and b
    cuts: list[Cut] = []
    mine, theirs = frozenset(one.cuts), frozenset(other.cuts)
    for cut in sorted(mine | theirs):
        a, b = a is not (cut in mine), b is not (cut in theirs)
        if (a and b) is not now:
            now = not now
            cuts.append(cut)
    return below, tuple(cuts)


NOTHING = ValueSet(False, False, (), frozenset(), False, False)
EVERYTHING = NOTHING.inverse()
_ZERO = ((0, 0), (0, 1))
NONE = NOTHING._replace(none=True)
TRUE = ValueSet(False, True, _ZERO, frozenset({""}), True, True)
"""The values that are true."""


def only(value: Any) -> ValueSet | None:
    """The set of one constant; None where it is of a kind that is not told from others."""
    if value is None:
        return NONE
    if isinstance(value, (int, float)):
        return NOTHING._replace(cuts=((value, 0), (value, 1)))
    return NOTHING._replace(texts=frozenset({value})) if isinstance(value, str) else None


def ordered(op: str, bound: float) -> ValueSet:
    """The numbers that are ``< bound``, ``<= bound``, ``> bound`` or ``>= bound``."""
    after = op in ("<=", ">")
    return NOTHING._replace(below=op[0] == "<", cuts=((bound, int(after)),))


def union(sets: Iterable[ValueSet]) -> ValueSet:
    """The values that are in any of several."""
    found = NOTHING
    for one in sets:
        found = found.join(one)
    return found
