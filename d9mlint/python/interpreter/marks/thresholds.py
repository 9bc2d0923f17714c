"""Draws that only decide by a threshold: ``random.random() < p`` decides nothing where ``p`` is 0 or 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.python.domain.conditions import ORDERINGS, either
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, FlagValue, Value
from d9mlint.python.interpreter import comparisons
from d9mlint.python.interpreter.program import holds
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_HANDED_ON = (".item", ".cuda", ".cpu", ".to", "builtins.float")
"""Calls that give the number itself."""


def note(interp: Interpreter, node: f.Compare, between: tuple[int, int], left: Value, right: Value) -> None:
    """Marks the draw that stands on one side with when it decides nothing; ``between`` are the left side's events."""
    if node.op not in ORDERINGS:
        return
    events = interp.story.events
    for side, told, bound in (
        (node.left, events[slice(*between)], right),
        (node.right, events[between[1] :], left),
    ):
        draw = _drawn(told) if isinstance(side, f.Call) else None
        if draw is not None and isinstance(bound, (Const, FlagValue)):
            low = comparisons.condition(interp, comparisons.compare(interp, "<=", bound, Const(0), node.op), node.op)
            high = comparisons.condition(interp, comparisons.compare(interp, ">=", bound, Const(1), node.op), node.op)
            interp.heap.mark(draw, idle=either(low, high))


def _drawn(told: list[Event]) -> Event | None:
    """The call that draws a number from 0 to 1, where nothing else happens but that it is handed on."""
    calls = [e for e in told if e.kind == "call" and not e.name.endswith(_HANDED_ON)]
    if len(calls) != 1 or len(told) > 1 + len(_HANDED_ON):
        return None
    return calls[0] if any(e.unit and holds(calls[0], e.when) is True for e in calls[0].effects) else None
