"""Results that nobody gets: of calls that stand alone, and of those kept under a name that is never read."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.taint import ABOUT, taint
from d9mlint.python.domain.values import Obj, Value, alternatives
from d9mlint.python.source import facts as f
from d9mlint.python.source import queries

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_BLANK = "_"
_MAX_PARTS = 8
"""Events that may stand in one assignment, and are looked at."""


def note(interp: Interpreter, node: f.Call, value: Value, start: int, frame: Frame) -> None:
    """Marks the call, told from event ``start`` on, and what made its value: the value goes nowhere from here.

    What ends a cell of a notebook is shown there, so nothing is said of those.
    """
    if interp.story.cells:
        return
    line, column = node.place[:2]
    for event in interp.story.events[start:]:
        at = event.location
        here = at.line == line and at.column == column and at.path == frame.module.path
        if here and event.kind in ("call", "unresolved") and not event.discarded:
            interp.heap.mark(event, discarded=True)
    gone(interp, value)


def unused(interp: Interpreter, node: f.Evaluate) -> None:
    """A method makes something new, which nobody gets where the call stands alone: ``dataset.shuffle(9)``."""
    last = interp.story.events[-1] if interp.story.events else None
    if last is None or not isinstance(node.value, f.Call) or not last.name.startswith(interp.hooks.persistent):
        return
    if (last.location.line, last.location.column) == node.value.place[:2]:
        interp.heap.mark(last, kind="dropped")


def assigned(
    interp: Interpreter, targets: tuple[f.Expr, ...], node: f.Expr, value: Value, start: int, frame: Frame
) -> None:
    """Marks what is assigned, told from event ``start`` on, where only names get it that are never read."""
    if isinstance(node, f.Call) and unread(interp, targets, frame):
        note(interp, node, value, start, frame)
    elif isinstance(node, f.Format) and unread(interp, targets, frame):
        _in_text(interp, node, start, frame)


def added(interp: Interpreter, node: f.Augment, start: int, frame: Frame) -> None:
    """Marks what makes a text that is only appended to a name which is never read: ``name += f"-{number()}"``.

    Other things may be changed where they lie, for all that have them.
    """
    if isinstance(node.value, f.Format) and unread(interp, (node.target,), frame):
        _in_text(interp, node.value, start, frame)


def _in_text(interp: Interpreter, text: f.Format, start: int, frame: Frame) -> None:
    """Marks the calls whose results a text that goes nowhere is made of: what they draw decides nothing.

    Other modules may read the names of one.
    """
    if interp.story.cells or frame.func is None:
        return
    places = {part.place[:2] for part in text.parts if isinstance(part, f.Call)}
    for event in interp.story.events[start:] if places else ():
        at = event.location
        if (at.line, at.column) in places and at.path == frame.module.path and event.kind == "call":
            interp.heap.mark(event, discarded=True, idle=True)


def gone(interp: Interpreter, value: Value) -> None:
    """Marks what made a value that goes nowhere."""
    for event in taint([value])[2]:
        interp.heap.mark(event, discarded=True)
    for _, leaf in alternatives(value):
        if isinstance(leaf, Obj) and leaf.event is not None:
            interp.heap.mark(leaf.event, discarded=True)


def uncounted(interp: Interpreter, counters: tuple[f.Expr, ...], start: int, frame: Frame) -> None:
    """Marks what ``enumerate`` told from event ``start`` on where nobody reads its numbers but who watches.

    Where they only look up items (``outputs[i]``), each place that does so tells whether it asks for an order.
    """
    told = [e for e in interp.story.events[start:] if e.kind == "sink" and e.name == "enumerate" and not e.discarded]
    if told and (unread(interp, counters, frame) or _only_watched(interp, counters, frame)):
        for event in told:
            interp.heap.mark(event, discarded=True)


def _only_watched(interp: Interpreter, counters: tuple[f.Expr, ...], frame: Frame) -> bool:
    """Whether the function, or the module, reads names only for what it prints, or only to look up items by them."""
    names = frozenset(name for counter in counters for name in queries.plain_names(counter))
    node = _around(interp, frame)
    if None in names or node is None or isinstance(node, f.Lambda):
        return False
    return queries.reads_but_to_print(node.body).isdisjoint(names) or queries.only_picks_by(node.body, names)


def unshown(interp: Interpreter, start: int) -> None:
    """Marks what an item or a slice that stands alone told from event ``start`` on; in a notebook it is shown."""
    if not interp.story.cells:
        raised(interp, start)


def raised(interp: Interpreter, start: int) -> None:
    """Marks what an item or a slice that is raised told from event ``start`` on."""
    for event in interp.story.events[start:]:
        if event.kind == "sink" and event.name in ("item", "slice"):
            interp.heap.mark(event, discarded=True)


def filed(interp: Interpreter, target: f.Sub, given: tuple[Value, Value], place: f.Place) -> None:
    """Marks the parts of what is stored under a number out of itself: ``results[one[0]] = one[1]``, in any order."""
    index, value = (taint([one])[2] for one in given)
    if not isinstance(target.key, f.Sub) or not index or [*map(id, index)] != [*map(id, value)]:
        return
    for event in islice(reversed(interp.story.events), _MAX_PARTS):
        if event.kind == "sink" and event.name == "item" and place[0] <= event.location.line <= place[2]:
            interp.heap.mark(event, discarded=True)


def looked_at(interp: Interpreter, holder: Value, name: str) -> None:
    """Marks what made a value of which only the shape, or the type, is asked."""
    if name not in ABOUT:
        return
    for event in taint([holder])[2]:
        interp.heap.mark(event, discarded=True)


def unread(interp: Interpreter, targets: tuple[f.Expr, ...], frame: Frame) -> bool:
    """Whether what is assigned goes only to names that the function, or the module, never reads."""
    names = [name for target in targets for name in queries.plain_names(target)]
    if not names or None in names:
        return False
    return all(name == _BLANK for name in names) or _read_in(interp, frame).isdisjoint(names)


def _read_in(interp: Interpreter, frame: Frame) -> frozenset[str]:
    node = _around(interp, frame)
    return interp.project.reads(node) if node is not None else frozenset()


def _around(interp: Interpreter, frame: Frame) -> f.Def | f.Lambda | f.Facts | None:
    return frame.func.node if frame.func is not None else interp.project.facts(frame.module.path)
