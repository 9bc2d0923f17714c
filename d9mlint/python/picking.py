"""Items that are picked out of values in an unstable order: ``names[np.argmax(steps)]`` asks for no order.

The largest of what was made of a listing stands where its name stands in it, whatever the order of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from d9mlint.python import facts as f
from d9mlint.python.story import Event, Frame
from d9mlint.python.values import UNKNOWN, Obj, Phi, Seq, Unknown, Value, taint

if TYPE_CHECKING:
    from d9mlint.python.interpreter import Interpreter
    from d9mlint.python.program import Program

PICKED = "picked"
"""The kind of event for an item that is picked by the place of an extreme, with the index as its argument."""
_PLACES = ("argmax", "argmin", "nanargmax", "nanargmin", "index")
_EXTREMES = ("max", "min", "amax", "amin")
_SAME = ("builtins.int", "numpy.array", "numpy.asarray", "torch.tensor", "torch.as_tensor")
"""Calls that give the same numbers, or number, in the same order."""
_MAX_STEPS = 6


def note(interp: Interpreter, holder: Seq | Obj | Unknown, index: Value, node: f.Sub, frame: Frame) -> None:
    """Tells that an item, or a slice, is taken out of something in an unstable order."""
    if not holder.order:
        return
    if not node.is_slice and _place_in(interp.story.events, holder, index):
        interp.event(PICKED, "item", frame, node.place, (index,))
    else:
        interp.event("sink", "slice" if node.is_slice else "item", frame, node.place, (holder,))


def _place_in(events: list[Event], holder: Value, index: Value) -> bool:
    """Whether an index is the place of something in a list that was made of what ``holder`` comes from."""
    sources = taint([holder])[2]
    value: Value | None = index
    found = False
    for _ in range(_MAX_STEPS):
        order, made_of = taint([value])[1:]
        if found and order:
            return bool(made_of) and set(map(id, made_of)) <= set(map(id, sources))
        if not isinstance(value, (Obj, Unknown)) or value is UNKNOWN:
            return False  # no such call makes it
        made = value.event if isinstance(value, Obj) else next((e for e in reversed(events) if e.result is value), None)
        if made is None or not (made.name in _SAME or _last(made) in _PLACES):
            return False
        found = found or _last(made) in _PLACES
        value = made.receiver if isinstance(made.receiver, (Obj, Seq, Unknown)) else next(iter(made.args), None)
        if value is None:
            return False
    return False


def drawn(item: Value, index: Value) -> Value:
    """An item of which nothing is known but the draw that chose it: what shows it shows that."""
    origins, _, chosen = taint([index])
    return _from(item, chosen) if "random" in origins else item


def _from(item: Value, chosen: tuple[Event, ...]) -> Value:
    if isinstance(item, Phi):
        return Phi(tuple((cond, _from(leaf, chosen)) for cond, leaf in item.alternatives))
    if isinstance(item, Unknown):
        return Unknown(item.origins, item.order, tuple(dict.fromkeys((*item.sources, *chosen))), item.name)
    if isinstance(item, Obj) and item.type.endswith("()") and not item.attrs:
        return Obj(item.type, item.event, item.origins, item.order, tuple(dict.fromkeys((*item.sources, *chosen))))
    return item


def _last(event: Event) -> str:
    return event.name.rpartition(".")[2]


def asks_no_order(program: Program, event: Event) -> bool:
    """Whether only extremes of what a call makes are asked for, and the places of these in the same listing."""
    uses = _uses(program, event)
    return bool(uses) and all(
        _last(use) in _EXTREMES or (_last(use) in _PLACES and _only_picks(program, use)) for use in uses
    )


def _only_picks(program: Program, place: Event) -> bool:
    uses = _uses(program, place)
    return bool(uses) and all(use.kind == PICKED or (use.name in _SAME and _only_picks(program, use)) for use in uses)


def _uses(program: Program, made: Event) -> Sequence[Event]:
    """The calls, and the like, that are handed what a call makes, as it is."""
    return program.once("takers", _takers).get(id(made.result), ()) if made.result is not None else ()


def _takers(program: Program) -> dict[int, list[Event]]:
    """By the ``id`` of a value, those that are handed it."""
    found: dict[int, list[Event]] = {}
    for event in program.events:
        for value in {id(value) for value in (event.receiver, *event.args, *event.kwargs.values())}:
            found.setdefault(value, []).append(event)
    return found
