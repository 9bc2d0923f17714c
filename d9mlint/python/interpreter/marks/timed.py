"""Loops whose test asks the clock: how many turns they have depends on the time that each takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Const
from d9mlint.python.interpreter import expressions
from d9mlint.python.interpreter.library import environment
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter


def clock_in(events: Sequence[Event]) -> Event | None:
    """The first of these that asks the clock."""
    return next((e for e in events if any(x.origin == "clock" for x in e.effects)), None)


def asked(interp: Interpreter, node: f.While, clock: Event | None, start: int, frame: Frame) -> Event | None:
    """Tells of a loop that is being run, told from event ``start`` on; the clock that its test asks, where it trains.

    ``while not found or clock() - began < limit`` asks it from the second turn on.
    """
    events = interp.story.events
    if clock is None and isinstance(node.test, f.Op) and node.test.op == "or":
        told = len(events)
        expressions.evaluate(interp, node.test, frame)
        clock = clock_in(events[told:])
    if clock is None:
        return None
    if any(e.trains for e in events[start:]):
        return clock
    interp.event("timed", clock.raw, frame, environment.place_of(clock), (Const(True), Const(True)))
    return None
