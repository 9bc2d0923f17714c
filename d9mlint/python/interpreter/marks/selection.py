"""Items that are picked out of values in an unstable order: ``names[np.argmax(steps)]`` asks for no order.

The largest of what was made of a listing stands where its name stands in it, whatever the order of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.python.domain.conditions import UNKNOWN_DEFAULT
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import UNKNOWN, FlagValue, Obj, Phi, Seq, Text, Unknown, Value, alternatives
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

PICKED = "picked"
"""The kind of event for an item that is picked by the place of an extreme, with the index as its argument."""
TAKEN = "taken"
"""The kind of event for a part that is taken out of an array, with the array as its argument."""
PLACES = ("argmax", "argmin", "nanargmax", "nanargmin", "index")
_MAX_STEPS = 6


def note(interp: Interpreter, holder: Seq | Obj | Unknown, index: Value, node: f.Sub, frame: Frame) -> None:
    """Tells that an item, or a slice, is taken out of something in an unstable order; under a text there is a key."""
    if not holder.order or (isinstance(holder, Unknown) and _is_text(index)) or _in_step(holder, index):
        return
    if not node.is_slice and _place_in(interp, holder, index):
        interp.event(PICKED, "item", frame, node.place, (index,))
    else:
        interp.event("sink", "slice" if node.is_slice else "item", frame, node.place, (holder,))


def taken(interp: Interpreter, holder: Value, index: Value, node: f.Sub, frame: Frame) -> None:
    """Tells that something is taken out of an array that was put together in no promised order: ``cloud[:, :3]``."""
    for _, leaf in alternatives(holder):
        made = leaf.event if isinstance(leaf, Obj) and not leaf.order else None
        if made is not None and any(x.orders_data for x in made.effects) and taint(made.args)[1]:
            place = not node.is_slice and _place_in(interp, leaf, index)
            interp.event(PICKED if place else TAKEN, "item", frame, node.place, (index if place else leaf,))


def by_turn(interp: Interpreter, holder: Value, index: Value, node: f.Sub, frame: Frame) -> None:
    """Tells that the number of a turn in no promised order looks up an item of what was not made in that order."""
    order = taint([index])[1] if isinstance(index, Unknown) else ""
    if order and not any(_in_step(leaf, index) for _, leaf in alternatives(holder)):
        interp.event("sink", "item", frame, node.place, (index,))


def _in_step(holder: Value, index: Value) -> bool:
    """Whether an index counts what something was made of, in its order: ``outputs[i]`` belongs to ``names[i]``."""
    order, made = taint([index])[1:]
    return bool(order) and not {*map(id, made)}.isdisjoint(map(id, taint([holder])[2]))


def _is_text(index: Value) -> bool:
    """Whether an index is surely a text, which nothing in an order has."""
    if isinstance(index, FlagValue):
        known = index.flag.choices or (index.flag.default,)
        return all(isinstance(one, str) and one != UNKNOWN_DEFAULT for one in known)
    return isinstance(index, Text)


def _place_in(interp: Interpreter, holder: Value, index: Value) -> bool:
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
        made = (
            value.event
            if isinstance(value, Obj)
            else next((e for e in reversed(interp.story.events) if e.result is value), None)
        )
        if made is None or not (gives_same(made, interp.hooks.same_numbers) or last(made) in PLACES):
            return False
        found = found or last(made) in PLACES
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


def gives_same(event: Event, names: tuple[str, ...]) -> bool:
    """Whether a call gives the same numbers, or number, in the same order."""
    return event.name == "builtins.int" or event.name in names


def last(event: Event) -> str:
    """The last part of the name of a call."""
    return event.name.rpartition(".")[2]
