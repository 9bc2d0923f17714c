"""Sets: what is in them, and whether they come out in the same order in each process.

Only the hashes of strings (and bytes) are salted: a set of numbers comes out in one order
(docs.python.org/3/using/cmdline.html, PYTHONHASHSEED).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from d9mlint.python.domain.conditions import Cond
from d9mlint.python.domain.taint import ARRAY, NUMBERS, taint
from d9mlint.python.domain.values import NONE, Const, Phi, Seq, Unknown, Value, alternatives
from d9mlint.python.interpreter.hooks import Transfer

if TYPE_CHECKING:
    from d9mlint.python.domain.events import Event, Frame
    from d9mlint.python.interpreter.interpreter import Interpreter


def has_own_order(value: Seq) -> bool:
    """Whether a set comes out in the same order in each process: one of numbers and None, or of a single item."""
    if value.items is not None and len(value.items) == 1:
        return True
    items = held(value)
    return bool(items) and all(unsalted(item) for item in items)


def held(value: Seq) -> list[Value]:
    """The items of a set where they are known, else what stands for all of them."""
    return value.items if value.items is not None else [value.element] if value.element else []


def with_salted_order(value: Value) -> Iterable[tuple[Cond, Seq]]:
    """The sets, among the alternatives of a value, that have another order in each process, with their conditions.

    One that is made empty counts where it is all there is: somebody fills it in a way that is not seen.
    """
    found = [(cond, leaf) for cond, leaf in alternatives(value)]
    for cond, leaf in found:
        salted = isinstance(leaf, Seq) and leaf.kind == "set" and not has_own_order(leaf)
        if isinstance(leaf, Seq) and salted and (len(found) == 1 or leaf.items != []):
            yield cond, leaf


def unsalted(value: Value) -> bool:
    """Whether the hash of a value is the same in each process."""
    if isinstance(value, Phi):
        return all(unsalted(leaf) for _, leaf in value.alternatives)
    if isinstance(value, Seq) and value.kind == "tuple" and value.items:
        return all(unsalted(item) for item in value.items)
    if isinstance(value, Const):
        return isinstance(value.value, (int, float, type(None)))
    return isinstance(value, Unknown) and not value.origins.isdisjoint(("int", ARRAY))


def untold(value: Value) -> bool:
    """Whether nothing is known of a value."""
    return isinstance(value, Unknown) and not value.origins


def _parts(value: Value) -> tuple[list[Value] | None, Value | None]:
    """Items (None where they are not all known) and element of what a set is made of."""
    if isinstance(value, Seq):
        return (list(value.items) if value.items is not None else None), value.element
    origins = taint([value])[0]
    return None, Unknown(origins - NUMBERS | ({"int"} if ARRAY in origins else frozenset()))


def joined(values: Sequence[Value], sources: tuple[Event, ...] = (), *, alike: bool = False) -> Seq:
    """The set of the items of several; one whose hash is salted, where there is any, stands for all of them.

    ``alike``: they hold things of one kind, so that what one holds tells what is in the others.
    """
    every: list[Value] = []
    for value in values:
        items, one = _parts(value)
        every += [*(items or ()), *([one] if one is not None else [])]
    number = next((item for item in every if unsalted(item)), None)
    salted = next((item for item in every if not unsalted(item) and not (alike and number and untold(item))), None)
    return Seq("set", None, salted or number or next(iter(every), None), "", sources)


def _make(interp: Interpreter, event: Event, frame: Frame) -> Value:
    items, one = _parts(event.args[0]) if event.args else ([], None)
    return Seq("set", items, one, "", (event,))


def _combine(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``a.union(b)`` has the items of both, what is left of ``a`` has its own."""
    if not isinstance(event.receiver, Seq):
        return None
    both = event.name.endswith(("union", "symmetric_difference"))
    return joined([event.receiver, *(event.args if both else ())], (event,), alike=True)


def _fill(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``add`` and ``update``."""
    if isinstance(receiver := event.receiver, Seq):
        added = event.args if event.name.endswith("update") else [Seq("tuple", list(event.args))]
        whole = joined([receiver, *(value for value in added if value is not receiver)])
        items, element = (None, whole.element) if whole.element else (receiver.items, None)
        interp.heap.fill(receiver, items, element)
    return NONE


TRANSFER: dict[str, Transfer] = {
    "builtins.set": _make, "builtins.frozenset": _make, "builtins.set.union": _combine,
    "builtins.set.difference": _combine, "builtins.set.intersection": _combine,
    "builtins.set.symmetric_difference": _combine, "builtins.set.copy": _combine,
    "builtins.set.add": _fill, "builtins.set.update": _fill,
}  # fmt: skip
