"""``sorted``, ``max`` and their like: they give one order, whatever the order of what they get, but for ties.

Sorting is stable (docs.python.org/3/library/functions.html#sorted): items that a key does not tell apart stay in the
order in which they came. Words sorted by their frequency alone are, where they come out of a set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.taint import NUMBERS, taint
from d9mlint.python.domain.values import NONE, Func, Members, Obj, Ref, Seq, Unknown, Value
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment
from d9mlint.python.interpreter.library.containers import sequences
from d9mlint.python.interpreter.marks import bounded
from d9mlint.python.interpreter.scopes import COMPLETION
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_MEASURES = ("get", "count", "__getitem__")
"""Methods that give many items one number: ``frequencies.get``, ``votes.count``."""


def has_ties(key: Value | None, order: str) -> bool:
    """Whether a key gives several items in this order one and the same value, as far as its text tells."""
    if isinstance(key, Ref):
        return key.name == "builtins.len" or key.name.rpartition(".")[2] in _MEASURES
    if not isinstance(key, Func) or not isinstance(key.node, f.Lambda) or len(key.node.params) != 1:
        return False
    return _measures(key.node.body, key.node.params[0].name, order)


def _measures(body: f.Expr, item: str, order: str) -> bool:
    if isinstance(body, f.Items):
        return bool(body.items) and all(_measures(one, item, order) for one in body.items)
    if isinstance(body, f.Op):
        return len(body.operands) == 1 and _measures(body.operands[0], item, order)
    if isinstance(body, f.Sub) and not body.is_slice:
        if isinstance(body.value, f.Name) and body.value.id == item:
            # The first part of a pair is often the number of its task, or what tells it from all others.
            return order == "set" and isinstance(body.key, f.Const) and body.key.value not in (0, None)
        return body.key == f.Name(item)
    if not isinstance(body, f.Call) or not body.args or body.args[0].value != f.Name(item):
        return False
    if isinstance(body.func, f.Name):
        return body.func.id == "len"
    return isinstance(body.func, f.Attr) and body.func.name in _MEASURES


def _sorted(interp: Interpreter, event: Event, frame: Frame) -> Value:
    value, key = environment.first(event), event.kwargs.get("key")
    origins, order, sources = _left(interp, event, frame)
    if isinstance(value, Seq):
        known = list(value.items) if value.items is not None and not isinstance(key, Func) else None
        element = value.element or (value.items[0] if value.items else None)
        if not order and element is not None and taint([element])[1] == COMPLETION:
            element = Unknown(taint([element])[0])  # (each is one result, which came when it was ready)
        return Members("list", None if known and len(known) > 1 else known, element, order, sources)
    return Seq("list", None, Unknown(origins), order, sources)


def _extreme(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``max(set(votes), key=votes.count)``: of several with the same number the first."""
    if len(event.args) != 1:
        counted, sources = taint(event.args)[0] - NUMBERS, bounded.listings(taint(event.args)[2])
        return Unknown(counted, "", sources) if sources else None
    origins, order, sources = _left(interp, event, frame)
    return Unknown(origins, order, sources) if order else None


def _left(interp: Interpreter, event: Event, frame: Frame) -> tuple[frozenset[str], str, tuple[Event, ...]]:
    """What is left of the order in which the items come: all of it where the key has ties."""
    value, key = environment.first(event), event.kwargs.get("key")
    origins, order, _ = taint([value])
    is_set = isinstance(value, Seq) and value.kind == "set"
    if not has_ties(key, "set" if is_set else order):
        return origins, "", ()
    return sequences.iteration_order(interp, value, frame, environment.place_of(event))


def _sort_in_place(interp: Interpreter, event: Event, frame: Frame) -> Value:
    receiver = event.receiver
    if isinstance(receiver, (Seq, Obj, Unknown)) and has_ties(event.kwargs.get("key"), taint([receiver])[1]):
        return NONE
    if isinstance(receiver, Seq):
        interp.heap.arrange(receiver, "", ())
    elif isinstance(receiver, Obj):
        interp.heap.arrange(receiver, "", receiver.sources)
    elif isinstance(receiver, Unknown):
        receiver.order = ""
    return NONE


TRANSFER: dict[str, Transfer] = {
    "builtins.sorted": _sorted, "builtins.max": _extreme, "builtins.min": _extreme,
    "builtins.list.sort": _sort_in_place, "?.sort": _sort_in_place,
}  # fmt: skip
