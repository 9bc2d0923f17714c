"""What conditions are made of: tests of flags, tests that cannot be read, and their combinations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from d9mlint.model import Location


class Flag(NamedTuple):
    """A command-line flag: how it is spelled, its default (``UNKNOWN_DEFAULT`` if not constant), its kind.

    ``kind`` is ``on`` (store_true), ``off`` (store_false), ``bool`` (takes true/false) or ``value``.
    """

    name: str
    spelled: str
    default: Any
    kind: str
    location: Location
    required: bool = False
    choices: tuple[Any, ...] = ()
    """All values that it can have; empty where that is not known."""


class Node:
    """A condition. Equal ones are one object (per story), so that comparing and hashing them costs nothing."""

    __slots__ = ("atoms", "negation", "size", "symbolic")
    atoms: int
    """A bit for each flag and each opaque test in it: conditions that share none say nothing about each other."""
    negation: Cond | None
    size: int
    """Tests in it."""
    symbolic: bool
    """It speaks only of flags, so that it can be told to the user."""


class FlagTest(Node):
    """``flag op value`` with op ``truthy``, ``none``, ``==`` or an ordering of numbers."""

    __slots__ = ("flag", "op", "value")
    flag: Flag
    op: str
    value: Any

    def __new__(cls, flag: Flag, op: str, value: Any = None) -> FlagTest:
        """The one such test."""
        node = _known(cls, (flag, op, type(value), value))
        node.flag, node.op, node.value, node.symbolic = flag, op, value, True
        node.atoms = _bit(flag)
        return node


EXCEPTION = "an exception is raised"
"""The text of the condition under which a handler runs."""


TYPE_TEST = "isinstance(...)"
"""The text of a test of the type of something unknown."""


class OpaqueTest(Node):
    """A condition that cannot be read; two of them are equal when they have the same key (mostly: a place)."""

    __slots__ = ("by_default", "text")
    by_default: bool
    """It holds where a parameter, which settings that are not known may give, is left to its default."""
    text: str

    def __new__(
        cls, key: tuple[Any, ...], text: str, parts: Iterable[Any] = (), *, by_default: bool = False
    ) -> OpaqueTest:
        """The one such test; ``parts`` are those of a condition that was given up."""
        node = _known(cls, key)
        node.text, node.symbolic, node.atoms = text, False, _bit(node) | _atoms(parts)
        node.by_default = by_default
        return node


class Not(Node):
    """Negation; ``of`` is a test."""

    __slots__ = ("of",)
    of: Any

    def __new__(cls, of: Any) -> Not:
        """The one such negation."""
        node = _known(cls, (of,))
        node.of, node.symbolic, node.atoms, node.negation = of, of.symbolic, of.atoms, of
        return node


class Several(Node):
    """Conditions put together."""

    __slots__ = ("of",)
    of: tuple[Any, ...]
    """Its parts, in the order given."""

    @classmethod
    def make(cls, parts: Sequence[Any]) -> Any:
        """The one such condition."""
        node = _known(cls, (frozenset(parts),))
        if node.size == 1:
            node.of, node.symbolic = tuple(parts), all(p.symbolic for p in parts)
            node.size, node.atoms = sum(p.size for p in parts), _atoms(parts)
        return node


class All(Several):
    """Conjunction of at least two."""

    __slots__ = ()


class AnyOf(Several):
    """Disjunction of at least two."""

    __slots__ = ()


Cond: TypeAlias = bool | FlagTest | OpaqueTest | Not | All | AnyOf
UNKNOWN_DEFAULT = "<unknown default>"
LAUNCHER = Flag("", "", UNKNOWN_DEFAULT, "launcher", Location("", 1, 1, 1, 1))
"""By which launch script (its ``path:line``) the program is started."""
STATED = "stated"
"""The kind of a flag that is none: its name says what has to hold."""
_NODES: dict[tuple[type, tuple[Any, ...]], Any] = {}
_BITS: dict[Any, int] = {}
_N = TypeVar("_N", bound=Node)


def _known(kind: type[_N], key: tuple[Any, ...]) -> _N:
    found = _NODES.get((kind, key))
    if found is None:
        found = _NODES[(kind, key)] = object.__new__(kind)
        found.negation, found.size = None, 1
    return found


def _bit(atom: Any) -> int:
    found = _BITS.get(atom)
    if found is None:
        found = _BITS[atom] = 1 << len(_BITS)
    return found


def _atoms(parts: Iterable[Any]) -> int:
    bits = 0
    for part in parts:
        bits |= part.atoms
    return bits


def forget_nodes() -> None:
    """Drops all conditions made so far."""
    _NODES.clear()
    _BITS.clear()


def stated(words: str) -> FlagTest:
    """A condition that nothing in the program tells, and that these words put to the user."""
    return FlagTest(Flag(words, words, UNKNOWN_DEFAULT, STATED, Location("", 1, 1, 1, 1)), "truthy")
