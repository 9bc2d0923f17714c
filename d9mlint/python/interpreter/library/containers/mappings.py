"""Dicts: what they hold, and under which conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from d9mlint.python.domain.choices import MAX_THINGS, in_place_of_absent
from d9mlint.python.domain.conditions import Cond, both
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.reflected import Attributes
from d9mlint.python.domain.taint import taint, text_of
from d9mlint.python.domain.values import (
    ABSENT,
    NONE,
    UNKNOWN,
    Class,
    Const,
    Dict,
    Func,
    Inst,
    Joined,
    Members,
    Module,
    Obj,
    Phi,
    Record,
    Ref,
    Seq,
    Text,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import dispatch, environment, members
from d9mlint.python.interpreter.library.containers import sequences
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter


def merge(interp: Interpreter, into: Dict, other: Value, cond: Cond = True) -> None:
    """``into.update(other)`` under ``cond``."""
    for its_cond, leaf in alternatives(other):
        if isinstance(leaf, Dict):
            for key, value in list(interp.heap.items(leaf).items()):
                interp.heap.put(into, key, both(cond, its_cond), value)
            if leaf.open and not into.open:
                interp.heap.open(into)
            if leaf.order or leaf.sources:
                interp.heap.arrange(into, into.order or leaf.order, (*into.sources, *leaf.sources))
        elif leaf is not ABSENT and not into.open:
            interp.heap.open(into)
        if leaf is not ABSENT and not (isinstance(leaf, Dict) and not leaf.open):
            _add_in_turn(interp, into)


def _add_in_turn(interp: Interpreter, into: Dict) -> None:
    """In a loop in no promised order, keys that are not known come in that."""
    if interp.order_loops and into.tick < interp.order_loops[-1].tick and not isinstance(into, Attributes):
        order, sources = interp.order_loops[-1].taint
        interp.heap.arrange(into, order, (*into.sources, *(one for one in sources if one not in into.sources)))


def as_key(value: Value) -> Value:
    """What is looked up, or held, under a value: a tuple of constants is a constant."""
    if not isinstance(value, Seq) or value.kind != "tuple":
        return value
    parts = [part.value for part in value.items or () if isinstance(part, Const)]
    return Const(tuple(parts)) if parts and len(parts) == len(value.items or ()) else value


def add(interp: Interpreter, into: Dict, key: Value, value: Value) -> None:
    """``into[key] = value`` under a key that is not known; in a loop in no promised order the keys come in that.

    Of texts only those are held that are made of their key: ``paths[name] = f"{package}.{name}"``.
    """
    interp.heap.open(into)
    known = into.element
    ordered = known is None or (taint([value])[1] and not taint([known])[1])
    single = isinstance(value, (Inst, Obj)) or (isinstance(value, Text) and members.hole_of(value) is key)
    if (isinstance(value, (Seq, Dict)) and ordered) or (single and known is None):
        interp.heap.hold(into, value)
    _add_in_turn(interp, into)


def by_keys(interp: Interpreter, holder: Dict, key: Phi) -> list[tuple[Cond, str, Value]]:
    """What a dict holds under each of a few keys of which one is meant, with its condition; nothing where one is new.

    ``found[split] += [name]``, where ``split`` is ``"valid" if in_valid else "train"``.
    """
    found: list[tuple[Cond, str, Value]] = []
    for cond, leaf in key.alternatives:
        name = leaf.value if isinstance(leaf, Const) and isinstance(leaf.value, str) else None
        value = interp.heap.item(holder, name) if name is not None else None
        if name is None or value is None or len(found) == MAX_THINGS:
            return []
        found.append((cond, name, interp.resolve(value)))
    return found


def any_alike(interp: Interpreter, holder: Dict) -> Inst | None:
    """What stands for any item of a dict that holds objects of one class of the program: ``players[game.next]``."""
    if holder.open:
        return None
    return sequences.first_alike([interp.resolve(value) for value in interp.heap.items(holder).values()])


def _setdefault(interp: Interpreter, event: Event, frame: Frame) -> Value:
    receiver, key, default = event.receiver, environment.first(event), environment.first(event, 1)
    if isinstance(receiver, Dict) and isinstance(key, Const) and isinstance(key.value, (str, int)):
        found = interp.heap.item(receiver, key.value)
        value = held(interp, receiver, key) if found is None and receiver.element is not None else default
        if found is not None:
            value = interp.resolve(in_place_of_absent(found, default))
        if value is not found:
            interp.heap.put(receiver, key.value, interp.since(frame.born), value)
        return value
    if not isinstance(receiver, Dict) or isinstance(key, Const):
        return _get(interp, event, frame)
    add(interp, receiver, key, default)
    return held(interp, receiver, key)


def held(interp: Interpreter, holder: Dict, key: Value) -> Value:
    """What a dict holds under a key of which nothing is known."""
    return UNKNOWN if holder.element is None else under(interp, holder.element, key)


def under(interp: Interpreter, element: Value, key: Value) -> Value:
    """What stands for all that a dict holds, as it is found under a key.

    Under what a loop in no promised order takes in its turn there is a list for each turn, filled in an order of its
    own; under what is made of that, several turns may fill one.
    """
    if isinstance(element, Seq):
        loops = (one for one in reversed(interp.order_loops) if one.item is not None and _tells_apart(key, one.item))
        element.born = next(loops, None)
    if isinstance(element, Text):
        parts = [part if isinstance(part, Const) else key for part in element.parts]
        whole = "".join(str(part.value) for part in parts if isinstance(part, Const))
        return Const(whole) if isinstance(key, Const) else text_of(parts)
    return element


def _tells_apart(key: Value, item: Value) -> bool:
    """Whether a key is another one for each item: the item or a part of it, its name, a path that ends with it."""
    if key is item or (isinstance(item, Seq) and any(key is part for part in item.items or ())):
        return True
    if isinstance(key, Ref):
        return key.receiver is item and key.name.endswith(_NAMES)
    parts = key.parts if isinstance(key, (Text, Joined)) else ()
    return any(part is item for part in parts)


def _with_default(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``defaultdict(list)``: one list stands for those under all keys."""
    factory = environment.first(event)
    if len(event.args) != 1 or event.kwargs:
        return None
    if isinstance(factory, Func) and isinstance(factory.node, f.Lambda):
        held = calls.call(interp, factory, [], {}, frame, environment.place_of(event))
    else:
        name = factory.name if isinstance(factory, Ref) else ""
        held = _EMPTY[name]() if name in _EMPTY else UNKNOWN
    return Dict({}, True, element=held) if isinstance(held, (Seq, Dict)) else None


def _get(interp: Interpreter, event: Event, frame: Frame) -> Value:
    receiver, key = event.receiver, environment.first(event)
    default = event.args[1] if len(event.args) > 1 else NONE
    if isinstance(receiver, Dict) and isinstance(key, Const):
        try:
            found = interp.heap.item(receiver, key.value)
        except TypeError:
            found = None
        if found is not None:
            return interp.resolve(in_place_of_absent(found, default))
        return held(interp, receiver, key) if receiver.open else default
    if isinstance(receiver, Dict) and members.holds_callables(receiver):
        otherwise = default if isinstance(default, (Func, Class)) else None
        if len(receiver.items) > 1 or otherwise is not None:
            spelled, place = dispatch.called(key), environment.place_of(event)
            return dispatch.of_table(interp, receiver, key, spelled, frame, place, otherwise)
    if isinstance(receiver, Module):
        return dispatch.of_module(interp, receiver, key, dispatch.called(key), frame, environment.place_of(event))
    return (receiver.element if isinstance(receiver, Dict) else None) or UNKNOWN


def _pop(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``settings.pop("type")``: what it gives, and the item is gone, unless only some runs take it."""
    found = _get(interp, event, frame)
    key = environment.first(event)
    if isinstance(event.receiver, Dict) and isinstance(key, Const) and interp.since(frame.born) is True:
        interp.heap.drop(event.receiver, key.value)
    return found


def _update(interp: Interpreter, event: Event, frame: Frame) -> Value:
    if isinstance(event.receiver, Dict):
        held = event.receiver
        cond = interp.since(held.holder.born if isinstance(held, Attributes) else frame.born)
        for value in (*event.args, Dict(event.kwargs, event.star)):
            merge(interp, event.receiver, value, cond)
    return NONE


def _views(interp: Interpreter, event: Event, frame: Frame) -> Value:
    receiver = event.receiver
    if isinstance(receiver, Module):  # its `__dict__`
        how = event.name.rpartition(".")[2]
        return receiver if how == "keys" else sequences.members(receiver, how)
    return view(interp, receiver, event.name.rpartition(".")[2]) if isinstance(receiver, Dict) else UNKNOWN


def view(interp: Interpreter, receiver: Dict, how: str) -> Value:
    """The ``keys``, ``values`` or ``items`` of a dict."""
    if receiver.open and not receiver.items:
        if receiver.element is not None and how != "keys":
            pair = Seq("tuple", [UNKNOWN, receiver.element])
            one = receiver.element if how == "values" else pair
            return Members("list", None, one, receiver.order, receiver.sources)
        return Seq("list", None, UNKNOWN, receiver.order, receiver.sources) if receiver.order else UNKNOWN
    pairs = interp.heap.items(receiver).items()
    rest: list[Value] = [receiver.element or UNKNOWN] if receiver.open else []
    if how == "keys":
        return Seq("list", [*(Const(k) for k, _ in pairs), *(UNKNOWN for _ in rest)])
    if how == "values":
        return Members("list", [*(interp.resolve(v) for _, v in pairs), *rest])
    items = [Seq("tuple", [Const(k), interp.resolve(v)]) for k, v in pairs]
    return Members("list", [*items, *(Seq("tuple", [UNKNOWN, one]) for one in rest)])


def _make(interp: Interpreter, event: Event, frame: Frame) -> Value:
    out = Dict({})
    for value in (*event.args, Dict(event.kwargs, event.star)):
        pairs = _pairs(value)
        for cond, key, item in pairs or ():
            interp.heap.put(out, key, cond, item)
        pair = value.element.items if isinstance(value, Seq) and isinstance(value.element, Seq) else None
        if pairs is None and pair is not None and len(pair) == 2:  # `dict(zip(names, networks))`
            add(interp, out, pair[0], pair[1])
        elif pairs is None:
            merge(interp, out, value)
    return out


def _pairs(value: Value) -> list[tuple[Cond, str | int, Value]] | None:
    """Keys and what stands for them in a list of pairs, each under its condition; None where not all are known."""
    items = value.items if isinstance(value, Seq) and not value.order else None
    leaves = [one for item in items or () for one in alternatives(item) if one[1] is not ABSENT]
    found: list[tuple[Cond, str | int, Value]] = []
    for cond, leaf in leaves:
        pair = leaf.items if isinstance(leaf, Seq) else None
        key = pair[0] if pair is not None and len(pair) == 2 else None
        if pair is None or not isinstance(key, Const) or not isinstance(key.value, (str, int)):
            return None
        found.append((cond, key.value, pair[1]))
    return found if items is not None else None


def record(
    interp: Interpreter, cls: Class, args: Sequence[Value], kwargs: Mapping[str, Value], star: bool
) -> Record | None:  # fmt: skip
    """An object of a class of dicts, whose items may be its attributes; None where the class is another one.

    Its constructor does no more than that of dicts, or makes the items its attributes (``self.__dict__ = self``). Of a
    class with other methods (``register``) none is among those by which a dict gives and takes its items.
    """
    known = all(isinstance(leaf, Dict) for value in args for _, leaf in alternatives(value))
    if not known or set(cls.external()) != {"builtins.dict"}:
        return None
    names = {name: value for current in reversed(cls.line()) for name, value in current.frame.vars.items()}
    init = names.get("__init__")
    own = init.node if isinstance(init, Func) else None
    if own is not None and [param.kind for param in own.params] not in (["pos", "*", "**"], ["pos", "**"]):
        return None
    plain = own is None and names.keys().isdisjoint(_OF_ITEMS)
    if "__getattr__" not in names and not plain and (own is None or not _is_its_own_dict(own)):
        return None
    made = Record(cls)
    for value in (*args, Dict(dict(kwargs), star)):
        merge(interp, made, value)
    return _all_the_way_down(interp, made, 0)


def _all_the_way_down(interp: Interpreter, record: Record, level: int) -> Record:
    """The same with the dicts in it as such records: ``settings.train.seed`` is read of no others."""
    inner = {k: v for k, v in interp.heap.items(record).items() if type(v) is Dict} if level < _MOST_LEVELS else {}
    for key, value in inner.items():
        made = Record(record.cls)
        merge(interp, made, value)
        interp.heap.put(record, key, True, _all_the_way_down(interp, made, level + 1))
    return record


def _is_its_own_dict(init: f.Def | f.Lambda) -> bool:
    """Whether a constructor says ``self.__dict__ = self``."""
    return isinstance(init, f.Def) and any(
        isinstance(one, f.Assign) and isinstance(one.value, f.Name) and isinstance(target, f.Attr)
        and target.name == "__dict__"
        for one in init.body for target in (one.targets if isinstance(one, f.Assign) else ())
    )  # fmt: skip


_OF_ITEMS = frozenset({"__new__", "__getitem__", "__setitem__", "__missing__", "__getattribute__", "get", "update"})
"""Methods by which a dict makes, gives and takes its items."""
_EMPTY: dict[str, Callable[[], Value]] = {
    "builtins.list": lambda: Seq("list", None), "builtins.dict": lambda: Dict({}, True),
    "builtins.set": lambda: Seq("set", None),
}  # fmt: skip
_MOST_LEVELS = 6
_NAMES = (".name", ".path", ".stem")
TRANSFER: dict[str, Transfer] = {
    "builtins.dict": _make, "collections.OrderedDict": _make, "builtins.dict.get": _get,
    "builtins.dict.setdefault": _setdefault,
    "builtins.dict.pop": _pop, "builtins.dict.update": _update, "builtins.dict.items": _views,
    "builtins.dict.keys": _views, "builtins.dict.values": _views, "collections.defaultdict": _with_default,
}  # fmt: skip
