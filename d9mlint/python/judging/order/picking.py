"""Which uses of a listing ask for no order: extremes of what is made of it, and their places in it."""

from __future__ import annotations

from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.registry import SAME_NUMBERS
from d9mlint.python.interpreter.marks.selection import PICKED, PLACES, gives_same, last
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.flows import takers

_EXTREMES = ("max", "min", "amax", "amin")


def asks_no_order(program: Program, event: Event) -> bool:
    """Whether only extremes of what a call makes are asked for, and the places of these in the same listing."""
    uses = takers(program, event)
    return bool(uses) and all(
        last(use) in _EXTREMES or (last(use) in PLACES and _only_picks(program, use)) for use in uses
    )


def _only_picks(program: Program, place: Event) -> bool:
    uses = takers(program, place)
    return bool(uses) and all(
        use.kind == PICKED or (gives_same(use, SAME_NUMBERS) and _only_picks(program, use)) for use in uses
    )
