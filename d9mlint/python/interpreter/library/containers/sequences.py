"""What is in a sequence, and the order in which it comes out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from d9mlint.python.domain.choices import MAX_THINGS, choose, present
from d9mlint.python.domain.conditions import TYPE_TEST, Cond, both, conjuncts, either, flag_test, negate, opaque
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import (
    ABSENT,
    CALLABLE,
    Class,
    Const,
    Dict,
    FlagValue,
    Func,
    Inst,
    Members,
    Module,
    Obj,
    Phi,
    Ref,
    Seq,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter.library.containers import sets
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

MAX_LOOP_ITEMS = 8
"""Items of a sequence that a loop goes through one by one."""
MAX_SETTINGS = 200
"""The same where the loop only copies settings, one by one: ``for k, v in d.items(): setattr(self, k, v)``."""
GIVES = "gives"
"""The key of notes of what a loop over an object of the program gets."""
CONTENTS = "[]"
"""The attribute, which no program can name, of what an object is a list or dict of, as one of a library or its base."""
_MEMBERS = "module.members."


class Chained(Seq):
    """A list of objects that is joined of several, one of unknown length: each of ``parts`` stands for some items."""

    __slots__ = ("parts",)

    def __init__(self, left: Seq, right: Seq, parts: list[Value]) -> None:
        order, sources = left.order or right.order, (*left.sources, *right.sources)
        super().__init__(left.kind, None, parts[0], order, sources)
        self.parts = parts


def chained(left: Seq, right: Seq) -> Chained | None:
    """``workers + [learner]``: objects of the program, each of which does something else; None for all other lists."""
    parts = [part for one in (left, right) for part in _parts(one)]
    return Chained(left, right, parts) if parts and all(isinstance(part, Inst) for part in parts) else None


def _parts(one: Seq) -> list[Value]:
    if isinstance(one, Chained):
        return one.parts
    return one.items if one.items is not None else [one.element or Unknown()]


def members(module: Module, how: str, only: str = "") -> Ref:
    """The functions and classes of a module of the program as a loop takes them: ``items`` or ``values``."""
    return Ref(f"{_MEMBERS}{how}.{only}", module)


def members_of(iterable: Value) -> list[Value] | None:
    """The same, one by one; None for all else."""
    if not isinstance(iterable, Ref) or not iterable.name.startswith(_MEMBERS):
        return None
    how, only = iterable.name.removeprefix(_MEMBERS).split(".")
    kinds = {"class": (Class,), "function": (Func,)}.get(only, (Class, Func))
    frame = iterable.receiver.frame if isinstance(iterable.receiver, Module) else None
    public = ((name, one) for name, one in (frame.vars if frame is not None else {}).items() if name[0] != "_")
    found = [(name, one) for name, one in public if isinstance(one, kinds)][:MAX_SETTINGS]
    return [one if how == "values" else Seq("tuple", [Const(name), one]) for name, one in found]


def cut(holder: Seq, node: f.Sub, index: Value) -> list[Value] | None:
    """The items that a slice leaves; None where they are not known."""
    if holder.items is None or holder.kind not in ("tuple", "list"):
        return None
    if holder.kind == "list" and any(leaf is ABSENT for item in holder.items for _, leaf in alternatives(item)):
        return None
    ends = bounds(node, index)
    return None if ends is None else holder.items[ends[0] : ends[1]]


def bounds(node: f.Sub, index: Value) -> tuple[int | None, int | None] | None:
    """The numbers between which a slice lies; None where they are not known."""
    if node.bounds is None:
        return None
    given = list(index.items or ()) if isinstance(index, Seq) else [index]
    ends: list[int | None] = []
    for end in node.bounds:
        value = given.pop(0) if end is not None and given else None
        number = value.value if isinstance(value, Const) and type(value.value) is int else None
        if end is not None and number is None:
            return None
        ends.append(number)
    return ends[0], ends[1]


def unpack(interp: Interpreter, value: Value, count: int) -> list[Value]:
    """The parts of a value that is assigned to ``count`` targets."""
    if isinstance(value, Phi):
        parts = [unpack(interp, leaf, count) for _, leaf in value.alternatives]
        conds = [cond for cond, _ in value.alternatives]
        return [choose([(c, p[i]) for c, p in zip(conds, parts, strict=True)]) for i in range(count)]
    if isinstance(value, Seq):
        if value.items is not None and len(value.items) == count:
            return [interp.resolve(v) for v in value.items]
        return [value.element or Unknown(*taint([value]))] * count
    if isinstance(value, Obj) and value.type in interp.hooks.parts_alike:
        return [value] * count
    origins, _, sources = taint([value])
    return [Unknown(origins, "", sources) for _ in range(count)]


def contents(holder: Value | None) -> Value | None:
    """What an object holds that is a list or a dict by a class of a library; None for all else."""
    return holder.attrs.get(CONTENTS) if isinstance(holder, (Inst, Obj)) else None


_OF_DATA = re.compile(
    r"data|corp(us|ora)|(^|[_-])(files?|paths?|dirs?|folders?|inputs?|images?|texts?|sources?|train|test|valid?|eval)([_-]|$)"
)
"""Names of flags that say what a program works on."""


def filled(iterable: Value) -> Cond:
    """When a loop has a turn, as far as flags tell whose list is empty unless somebody gives it one.

    One of data is given in any run that is worth it.
    """
    found = either(*(both(cond, _has_items(leaf)) for cond, leaf in alternatives(iterable)))
    return True if found is False else found


def _has_items(leaf: Value) -> Cond:
    if isinstance(leaf, FlagValue) and not leaf.flag.required and leaf.flag.default in (None, "", ()):
        return True if _OF_DATA.search(leaf.flag.name) else flag_test(leaf.flag, "truthy")
    return leaf.items != [] if isinstance(leaf, Seq) else not isinstance(leaf, Const) or bool(leaf.value)


def loop_items(
    interp: Interpreter, iterable: Value, otherwise: Value, limit: int = MAX_LOOP_ITEMS
) -> list[Value]:  # fmt: skip
    """What a loop variable takes: each known item of a sequence of at most ``limit``, else one value for all.

    Of functions and classes each does something else: as many are taken one by one as are told apart. Of many items
    one of each kind stands for all: ``[[Conv, [3, 64]], [Conv, [64, 64]], ..., [Detect, [80]]]``.
    """
    if isinstance(iterable, Inst) and (given := interp.noted((GIVES, id(iterable)))) is not None:
        return loop_items(interp, given, otherwise, limit)
    iterable = contents(iterable) or iterable
    if isinstance(iterable, Chained) and len(iterable.parts) <= limit:
        return iterable.parts
    if isinstance(iterable, Seq):
        if iterable.items is not None and all(isinstance(item, (*CALLABLE, Class)) for item in iterable.items):
            limit = max(limit, MAX_THINGS)
        if iterable.items is not None and len(iterable.items) <= limit:
            return [item for v in iterable.items if (item := interp.resolve(v)) is not ABSENT]
        if iterable.items and (kinds := _kinds(interp, iterable.items)):
            return kinds
        if iterable.element is not None:
            return [iterable.element]
        if iterable.items:
            return [interp.resolve(iterable.items[0])]
    if isinstance(iterable, Dict) and iterable.items and not iterable.open and len(iterable.items) <= limit:
        held = ((key, interp.resolve(value)) for key, value in iterable.items.items())
        return [where_present(Const(key), value) for key, value in held if value is not ABSENT]
    found = members_of(iterable)
    return [otherwise] if found is None else found


def _kinds(interp: Interpreter, items: Sequence[Value]) -> list[Value]:
    """The first item with each combination of functions, classes and objects; none where there are one or too many."""
    found: dict[tuple[object, ...], Value] = {}
    for one in items:
        item = interp.resolve(one)
        if item is not ABSENT:
            found.setdefault(tuple(_things(item)), item)
    return list(found.values()) if 1 < len(found) <= MAX_THINGS else []


def _things(value: Value, levels: int = 2) -> Iterator[object]:
    """What tells the functions, classes and objects in an item of a list from those in others."""
    if isinstance(value, Seq) and levels:
        for inner in value.items or ():
            yield from _things(inner, levels - 1)
    elif isinstance(value, Inst):
        yield id(value.cls)
    elif isinstance(value, Obj):
        yield value.type
    elif isinstance(value, Ref):
        yield value.name
    elif isinstance(value, (*CALLABLE, Class)):
        yield id(value)


def any_object(value: Value) -> Inst | None:
    """What stands for any item of a list that holds objects of one class of the program and nothing else."""
    if not isinstance(value, Seq):
        return None
    return first_alike(value.items if value.items is not None else [value.element])


def first_alike(items: Sequence[Value | None]) -> Inst | None:
    """The first of some items where all are objects of one class of the program."""
    objects = [one for one in items if isinstance(one, Inst)]
    return objects[0] if len({id(one.cls) for one in objects}) == 1 and len(objects) == len(items) else None


def pairs_of_things(given: Sequence[Value]) -> list[Value] | None:
    """Each item of ``zip(names, networks)`` where all are known and functions, classes or objects are among them.

    Those that make a table may be many: ``dict(zip(["small", "large"], [Small, Large]))``.
    """
    rows = [value.items for value in given if isinstance(value, Seq) and value.items is not None]
    if len(rows) != len(given) or len({len(row) for row in rows}) != 1:
        return None
    if len(rows[0]) > MAX_LOOP_ITEMS and not _are_named(rows):
        return None
    if not any(isinstance(item, (*CALLABLE, Class, Inst)) for row in rows for item in row):
        return None
    return [Seq("tuple", list(row)) for row in zip(*rows, strict=True)]


def _are_named(rows: Sequence[Sequence[Value]]) -> bool:
    """Whether these are names, and functions or classes that may go by them."""
    if len(rows) != 2:
        return False
    names, things = rows
    return all(isinstance(one, Const) for one in names) and all(isinstance(one, (Func, Class)) for one in things)


def where_present(item: Value, held: Value) -> Value:
    """An item where something else is there: the key of what a dict may hold."""
    there = present(held)
    return item if there is True else choose([(there, item), (negate(there), ABSENT)])


def apart(iterable: Value, settings: bool = False) -> tuple[tuple[Cond, Value], ...]:
    """What a loop goes through: the members of one of several modules, each under its condition.

    So is one of several collections of ``settings``, which the loop keeps one by one.
    """
    several = alternatives(iterable)
    if len(several) > 1 and (settings or any(members_of(leaf) is not None for _, leaf in several)):
        return several
    return ((True, iterable),)


def keyed(interp: Interpreter, iterable: Value) -> list[Value] | None:
    """The items of what is gone through where all are known keys, or begin with one; None for all else.

    Functions and classes are, too, which have names: ``{cls.__name__: cls for cls in (Small, Large)}``.
    """
    items = members_of(iterable)
    if isinstance(iterable, Dict) and not iterable.open and not iterable.order:
        items = [Const(key) for key in interp.heap.items(iterable)]
    elif isinstance(iterable, Seq):
        items = iterable.items if iterable.kind in ("tuple", "list") else None
    if items is None or len(items) > MAX_SETTINGS:
        return None
    found = [item for one in items if (item := interp.resolve(one)) is not ABSENT]
    firsts = (one.items[0] if isinstance(one, Seq) and one.items else one for one in found)
    return found if all(isinstance(one, (Const, Class, Func)) for one in firsts) else None


def iteration_order(
    interp: Interpreter, iterable: Value, frame: Frame, place: f.Place
) -> tuple[frozenset[str], str, tuple[Event, ...]]:
    """Origins, order and source events of the items when ``iterable`` is gone through."""
    for hook in interp.hooks.iterates:
        hook(interp, iterable, frame, place)
    origins, order, sources = taint([iterable])
    leaves = [leaf for _, leaf in alternatives(iterable)]
    if any(isinstance(leaf, Members) for leaf in leaves):
        order, sources = _of_all(leaves)
    elif isinstance(iterable, Seq) and iterable.order and iterable.sources:
        sources = iterable.sources  # (what its items come from may have been sorted)
    for cond, leaf in sets.with_salted_order(iterable):
        if not _supposed(cond):
            event = interp.event("iterate", "set", frame, place, (leaf,))
            return origins, "set", (*leaf.sources, event)
    if order:
        interp.event("iterate", order, frame, place, (iterable,))
    return origins, order, sources


def _of_all(values: Sequence[Value]) -> tuple[str, tuple[Event, ...]]:
    """The order in which the items of one of several values come, and its sources; what was sorted has none."""
    each = [(one.order, one.sources) if isinstance(one, Members) else taint([one])[1:] for one in values]
    order = next((its_order for its_order, _ in each if its_order), "")
    return order, tuple(dict.fromkeys(source for _, sources in each for source in sources))


def _supposed(cond: Cond) -> bool:
    """Whether a value is there only if something unknown has some type: the branch of a walker for all containers."""
    return any((test := opaque(part)) is not None and test.text == TYPE_TEST for part in conjuncts(cond))


def without(value: Value, holder: Seq) -> Value:
    """A value that is put into ``holder``; Unknown where it holds that itself, however deep, as no walk would end."""
    todo: list[Value] = [value]
    for _ in range(MAX_SETTINGS):
        if not todo:
            return value
        for _, leaf in alternatives(todo.pop()):
            if leaf is holder:
                return Unknown()
            if isinstance(leaf, Seq):
                todo += [*(leaf.items or ()), *((leaf.element,) if leaf.element else ())]
    return value
