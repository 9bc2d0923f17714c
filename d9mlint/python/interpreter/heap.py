"""The heap: what the objects of a program hold, and every change that is made to it.

Modules that many entries share keep their objects from one entry to the next. Who changes such an object says so first,
so that the next entry finds it as its module left it; and what a module reads and changes outside of itself while it
runs is kept with it, so that it need not run again (`linking`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from d9mlint.python.domain.choices import in_place_of_absent, overwrite
from d9mlint.python.domain.conditions import Cond
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.reflected import Attributes
from d9mlint.python.domain.values import ABSENT, UNKNOWN, Dict, Func, Inst, Obj, Seq, Value, born


class Notes:
    """What the interpreter and frameworks remember about things, by keys of their own: values, and anything else."""

    __slots__ = ("items", "tick")

    def __init__(self) -> None:
        self.items: dict[Any, Any] = {}
        self.tick = born()


Thing: TypeAlias = Frame | Func | Inst | Obj | Dict | Notes | Seq | Event
"""What can change."""


class Read(NamedTuple):
    """A value that was there before: under a name or key of a holder, or of something that is none (``KIND``)."""

    holder: Any
    key: Any
    value: Any

    def now(self) -> Any:
        """What stands there now."""
        holder, key = self.holder, self.key
        if isinstance(holder, (Dict, Notes)):
            return tuple(holder.items.items()) if key is EVERY else holder.items.get(key)
        if isinstance(holder, Func):
            return holder.defaults.get(key)
        return (holder.vars if isinstance(holder, Frame) else holder.attrs).get(key)


class Change(NamedTuple):
    """A change to something that was there before: ``apply(heap, thing, *arguments)`` makes it again."""

    thing: Any
    key: Any
    apply: Callable[..., None]
    arguments: tuple[Any, ...]

    def outcome(self) -> Any:
        """What stands under the key afterwards; something that is nothing where that depends."""
        return self.arguments[2] if self.apply in (_set, _put, _note) and self.arguments[1] is True else EVERY


class Activation:
    """What runs, as far as it looks beyond itself: what it reads there, and what it changes."""

    __slots__ = ("changes", "holes", "reads", "start", "written")

    def __init__(self, start: int) -> None:
        self.start = start
        """The number of the next thing to be made when it began."""
        self.holes: list[tuple[int, int]] = []
        """The numbers of things that others made meanwhile: modules that it imported."""
        self.reads: dict[tuple[int, Any], Read] = {}
        self.written: set[tuple[int, Any]] = set()
        self.changes: list[Change] = []

    def made(self, tick: int) -> bool:
        """Whether a thing was made by it."""
        return tick >= self.start and not any(low <= tick < high for low, high in self.holes)


class Ranges:
    """The numbers of the things that belong to modules which entries share."""

    def __init__(self) -> None:
        self._lows: list[int] = []
        self._highs: list[int] = []

    def add(self, low: int, high: int) -> None:
        """A module that ran to its end; what it imported meanwhile is inside."""
        while self._lows and self._lows[-1] >= low:
            self._lows.pop()
            self._highs.pop()
        self._lows.append(low)
        self._highs.append(high)

    def __contains__(self, tick: int) -> bool:
        at = bisect_right(self._lows, tick) - 1
        return at >= 0 and tick < self._highs[at]


class Heap:
    """The changes to the things of one entry."""

    __slots__ = ("_before", "_shared", "activation")

    def __init__(self, shared: Ranges) -> None:
        self.activation: Activation | None = None
        """What runs and keeps note of what it does; None where nobody will ask."""
        self._shared = shared
        self._before: dict[int, tuple[Thing, Any]] = {}

    # -- what was there ------------------------------------------------------------------------------------------------

    def read(self, holder: Any, key: Any, value: Any) -> None:
        """Notes what stood under a name or key, None where nothing did."""
        activation = self.activation
        if activation is not None and not activation.made(holder.tick):
            where = (id(holder), key)
            if where not in activation.reads and where not in activation.written:
                activation.reads[where] = Read(holder, key, value)

    def item(self, holder: Dict, key: Any) -> Value | None:
        """What a dict holds under a key."""
        found = holder.items.get(key)
        if self.activation is not None:
            self.read(holder, key, found)
        return found

    def items(self, holder: Dict) -> dict[Any, Value]:
        """All that a dict holds."""
        if self.activation is not None:
            self.read(holder, EVERY, tuple(holder.items.items()))
        return holder.items

    def defaults(self, func: Func) -> None:
        """Notes that a function is called with the defaults that it has."""
        if self.activation is not None:
            for name, value in func.defaults.items():
                self.read(func, name, value)

    def noted(self, notes: Notes, key: Any) -> Any:
        """What is remembered under a key; None where nothing is."""
        found = notes.items.get(key)
        if self.activation is not None:
            self.read(notes, key, found)
        return found

    def all_noted(self, notes: Notes) -> dict[Any, Any]:
        """All that is remembered."""
        if self.activation is not None:
            self.read(notes, EVERY, tuple(notes.items.items()))
        return notes.items

    # -- changes -------------------------------------------------------------------------------------------------------

    def set(self, holder: Frame | Inst | Obj, name: str, cond: Cond, value: Value) -> None:
        """``holder.name = value`` under a condition."""
        self._change(holder, name, _set, (name, cond, value))

    def put(self, holder: Dict, key: Any, cond: Cond, value: Value) -> None:
        """``holder[key] = value`` under a condition; an item that ``value`` has only under conditions likewise."""
        if isinstance(holder, Attributes):
            if isinstance(key, str):
                self.set(holder.holder, key, cond, in_place_of_absent(value, holder.items.get(key, UNKNOWN)))
            return
        self._change(holder, key, _put, (key, cond, value))

    def set_default(self, holder: Func | Frame, name: str, value: Value) -> None:
        """Gives a parameter of a function, or a field of a class by its frame, another default."""
        self._change(holder, name, _set_default, (name, value))

    def note(self, notes: Notes, key: Any, cond: Cond, value: Any) -> None:
        """Remembers a value under a condition, or anything at all."""
        self._change(notes, key, _note, (key, cond, value))

    def drop(self, holder: Dict, key: Any) -> None:
        """``del holder[key]``, if it is there."""
        self._change(holder, key, _drop, (key,))

    def open(self, holder: Dict | Inst) -> None:
        """From here on a dict, or an object, may hold more than is known."""
        self._change(holder.holder if isinstance(holder, Attributes) else holder, EVERY, _open, ())

    def hold(self, thing: Dict, element: Value) -> None:
        """From here on a dict holds such a thing under keys that are not known."""
        self._change(thing, EVERY, _hold, (element,))

    def arrange(self, thing: Seq | Dict | Obj, order: str, sources: tuple[Event, ...]) -> None:
        """From here on a thing comes out in another order."""
        self._change(thing, EVERY, _arrange, (order, sources))

    def append(self, thing: Seq, value: Value, alone: bool) -> None:
        """Adds an item to a sequence (``alone``), or some."""
        self._change(thing, EVERY, _append, (value, alone))

    def fill(self, thing: Seq, items: list[Value] | None, element: Value | None) -> None:
        """Gives a sequence other items."""
        self._change(thing, EVERY, _fill, (items, element))

    def mark(self, event: Event, **marks: Any) -> None:
        """Says more of an event that is told already."""
        self._change(event, tuple(marks), _mark, (marks,))

    def _change(self, thing: Any, key: Any, apply: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        activation = self.activation
        if activation is not None and not activation.made(thing.tick):
            activation.written.add((id(thing), key))
            activation.changes.append(Change(thing, key, apply, arguments))
        apply(self, thing, *arguments)

    def again(self, change: Change) -> None:
        """Makes a change that was made before."""
        self._change(*change[:3], change.arguments)

    def touch(self, thing: Thing) -> None:
        """Keeps how a shared thing is before it is changed."""
        if thing.tick in self._shared and id(thing) not in self._before:
            self._before[id(thing)] = (thing, _state(thing))

    def restore(self) -> None:
        """Makes all shared things what they were."""
        for thing, state in self._before.values():
            _put_back(thing, state)
        self._before.clear()


EVERY = object()
"""The key that stands for all that a thing holds."""


def _set(heap: Heap, holder: Frame | Inst | Obj, name: str, cond: Cond, value: Value) -> None:
    heap.touch(holder)
    held = holder.vars if isinstance(holder, Frame) else holder.attrs
    if isinstance(holder, Inst):
        holder.like = born()
    held[name] = overwrite(held.get(name), cond, value)


def _put(heap: Heap, holder: Dict, key: Any, cond: Cond, value: Value) -> None:
    heap.touch(holder)
    old = holder.items.get(key, UNKNOWN if holder.open else ABSENT)
    holder.items[key] = overwrite(old, cond, in_place_of_absent(value, old))


def _set_default(heap: Heap, holder: Func | Frame, name: str, value: Value) -> None:
    heap.touch(holder)
    (holder.vars if isinstance(holder, Frame) else holder.defaults)[name] = value


def _note(heap: Heap, notes: Notes, key: Any, cond: Cond, value: Any) -> None:
    heap.touch(notes)
    notes.items[key] = value if cond is True else overwrite(notes.items.get(key, ABSENT), cond, value)


def _drop(heap: Heap, holder: Dict, key: Any) -> None:
    heap.touch(holder)
    holder.items.pop(key, None)


def _open(heap: Heap, holder: Dict | Inst) -> None:
    heap.touch(holder)
    holder.open = True


def _hold(heap: Heap, thing: Dict, element: Value) -> None:
    heap.touch(thing)
    thing.element = element


def _arrange(heap: Heap, thing: Seq | Dict | Obj, order: str, sources: tuple[Event, ...]) -> None:
    heap.touch(thing)
    thing.order, thing.sources = order, sources


def _append(heap: Heap, thing: Seq, value: Value, alone: bool) -> None:
    heap.touch(thing)
    if alone and thing.items is not None and len(thing.items) < MAX_ITEMS:
        thing.items.append(value)
    else:
        thing.items, thing.element = None, thing.element or value


def _fill(heap: Heap, thing: Seq, items: list[Value] | None, element: Value | None) -> None:
    heap.touch(thing)
    thing.items, thing.element = items, element


def _mark(heap: Heap, event: Event, marks: dict[str, Any]) -> None:
    heap.touch(event)
    for name, value in marks.items():
        setattr(event, name, value)


MAX_ITEMS = 64
"""Items of a list that grows one by one; beyond it one stands for all."""
_MARKS = ("kind", "raw", "location", "discarded", "idle", "in_training", "result")


def _state(thing: Thing) -> Any:
    """All of a thing that can change."""
    if isinstance(thing, Frame):
        return dict(thing.vars)
    if isinstance(thing, Func):
        return dict(thing.defaults)
    if isinstance(thing, Inst):
        return dict(thing.attrs), thing.like, thing.open
    if isinstance(thing, Obj):
        return dict(thing.attrs), thing.order, thing.sources
    if isinstance(thing, Dict):
        return dict(thing.items), thing.open, thing.order, thing.sources, thing.element
    if isinstance(thing, Notes):
        return dict(thing.items)
    if isinstance(thing, Seq):
        return None if thing.items is None else list(thing.items), thing.element, thing.order, thing.sources
    return tuple(getattr(thing, name) for name in _MARKS)


def _put_back(thing: Thing, state: Any) -> None:
    if isinstance(thing, Frame):
        thing.vars = state
    elif isinstance(thing, Func):
        thing.defaults.update(state)  # (copies with other decorators have the same)
    elif isinstance(thing, Inst):
        thing.attrs, thing.like, thing.open = state
    elif isinstance(thing, Obj):
        thing.attrs, thing.order, thing.sources = state
    elif isinstance(thing, Dict):
        thing.items, thing.open, thing.order, thing.sources, thing.element = state
    elif isinstance(thing, Notes):
        thing.items = state
    elif isinstance(thing, Seq):
        thing.items, thing.element, thing.order, thing.sources = state
    else:
        for name, value in zip(_MARKS, state, strict=True):
            setattr(thing, name, value)
