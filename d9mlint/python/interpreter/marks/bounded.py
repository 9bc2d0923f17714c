"""Loops that go on as long as a number says which is counted in a folder: what earlier runs have left ends them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Seq, Value
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter


def listings(sources: Iterable[Event]) -> tuple[Event, ...]:
    """Of the calls that something comes from those that list files."""
    return tuple(one for one in sources if any(effect.order == "listing" for effect in one.effects))


def by_range(interp: Interpreter, iterable: Value, frame: Frame, place: f.Place) -> None:
    """Tells in a loop over ``range(number)`` that the number is counted in a folder."""
    if isinstance(iterable, Seq) and iterable.kind == "range" and listings(iterable.sources):
        interp.event("bound", "for", frame, place, (iterable,))


def by_test(interp: Interpreter, told: Sequence[Event], frame: Frame) -> None:
    """The same in a ``while`` loop; ``told`` are the events of its test."""
    for event in told:
        if event.kind == "compare" and listings(taint(event.args)[2]):
            interp.event("bound", "while", frame, f.NOWHERE, event.args)
