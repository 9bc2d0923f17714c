"""Ops that ask for one operation of a kernel that has several: ``scatter(x, index, "max")`` adds nothing."""

from __future__ import annotations

from collections.abc import Iterable

from d9mlint.kernels.flow import Way
from d9mlint.kernels.judging.judge import Judgement
from d9mlint.kernels.judging.operations import ACCUMULATE
from d9mlint.kernels.sites.atomics import Atomic

_REDUCTIONS = ACCUMULATE | {"min", "max"}
_EXACT = frozenset(("min", "max"))


def asked_for(atomics: Iterable[Atomic], judgements: Iterable[Judgement], ways: Iterable[Way]) -> list[Way]:
    """The ways without those that ask for another operation than that of the site.

    A site that may be several operations is left out for one that asks for an exact one of them. Additions are kept
    where nothing in their function is what is asked for: they may count beside it.
    """
    words = {a.location: frozenset(j.words) for a, j in zip(atomics, judgements, strict=True)}
    beside: dict[tuple[str, int], set[str]] = {}
    functions = {a.location: key for a in atomics if (key := _function(a)) is not None}
    for location, key in functions.items():
        if len(words[location]) == 1:
            beside.setdefault(key, set()).update(words[location])

    def fits(way: Way) -> bool:
        own = words.get(way.site, frozenset())
        if not way.only or not own or not own <= _REDUCTIONS:
            return True
        if len(own) > 1:
            return not (way.only in _EXACT and way.only in own and own & ACCUMULATE)
        around = beside.get(functions.get(way.site, ("", 0)), set())
        return way.only in own or (own == {"add"} and way.only not in around)

    return [way for way in ways if fits(way)]


def _function(atomic: Atomic) -> tuple[str, int] | None:
    return (atomic.location.path, atomic.function.node.start_byte) if atomic.function is not None else None
