"""The value that an atomic brings: its type, and whether all threads bring the same."""

from __future__ import annotations

import tree_sitter

from d9mlint.kernels.judging import memory
from d9mlint.kernels.judging.constants import MAX_CALLS, Constant, atomic_calls, constant
from d9mlint.kernels.judging.scalars import kind
from d9mlint.kernels.judging.types import type_of
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.sites.names import KNOWN
from d9mlint.kernels.source.repository import Repository

Node = tree_sitter.Node
_MAX_LEVELS = 6


def operand_kind(atomic: Atomic, repository: Repository) -> str:
    """The kind of the last argument, where the type of the target is not visible; literals say nothing."""
    value = _operand(atomic)
    if value is None or value.type == "number_literal":
        return ""
    found = type_of(value, atomic.unit, repository)
    return kind(found.name) if found is not None and not found.depth else ""


def _operand(atomic: Atomic) -> Node | None:
    return atomic.arguments[1] if len(atomic.arguments) == 2 else None


def handed_on(atomic: Atomic, place: int, level: int = 0) -> bool:
    """Whether a wrapper gives its argument (0: target, 1: value) to the atomics in its body as it is.

    A body may add to the cells beside the target, or the value times something of the thread.
    """
    if atomic.name.encode() in KNOWN or level > _MAX_LEVELS:
        return level <= _MAX_LEVELS
    for inner in atomic.inner:
        given = inner.arguments[place] if place < len(inner.arguments) else None
        if given is None or given.type != "identifier" or not handed_on(inner, place, level + 1):
            return False
    return True


def lone_constant(atomic: Atomic) -> Constant | None:
    """The constant that an atomic brings, if no other atomic of the function brings another value to that base."""
    value = _operand(atomic)
    found = constant(value, atomic.unit) if value is not None and handed_on(atomic, 1) else None
    if found is None or found.nan or atomic.function is None:
        return found
    base = memory.base(atomic.arguments[0], atomic.unit)
    if base is None:
        return None
    name = atomic.unit.text(base)
    calls = atomic_calls(atomic.function.node, atomic.unit.data)
    if len(calls) > MAX_CALLS:
        return None
    for address, other in (given[:2] for given in calls if len(given) >= 2):
        root = memory.base(address, atomic.unit)
        same = root is not None and atomic.unit.text(root) == name
        if same and constant(other, atomic.unit) != found:
            return None
    return found
