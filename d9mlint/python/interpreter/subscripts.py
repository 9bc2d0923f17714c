"""Subscripts: what ``holder[index]`` gives, by what is held."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from d9mlint.python.domain.choices import MAX_THINGS, choose, in_place_of_absent
from d9mlint.python.domain.conditions import Flag, flag_test, negate
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.taint import is_number, taint
from d9mlint.python.domain.tellable import is_of_config
from d9mlint.python.domain.values import (
    ABSENT,
    UNKNOWN,
    Bound,
    Class,
    CondValue,
    Const,
    Dict,
    FlagValue,
    Func,
    Inst,
    Module,
    Obj,
    Phi,
    Ref,
    Seq,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import attributes, calls, comparisons, expressions
from d9mlint.python.interpreter.hooks import ask
from d9mlint.python.interpreter.library import dispatch, generics, members
from d9mlint.python.interpreter.library.arguments import argv, nodes
from d9mlint.python.interpreter.library.containers import composites, mappings, sequences
from d9mlint.python.interpreter.marks import discards, selection
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter


def subscript(interp: Interpreter, node: f.Sub, frame: Frame) -> Value:
    """The value of ``holder[index]``."""
    holder = expressions.evaluate(interp, node.value, frame)
    index = key(interp, node, frame)
    note_index(interp, holder, index, frame, node.place)
    selection.by_turn(interp, holder, index, node, frame)
    selection.taken(interp, holder, index, node, frame)
    options = [(cond, _item(interp, leaf, index, node, frame)) for cond, leaf in alternatives(holder)]
    found = selection.drawn(choose(options), index)
    inside = type(node.value) is f.Sub and _is_unknown(found)
    return _setting(interp, node, found) if inside else found


def key(interp: Interpreter, node: f.Sub, frame: Frame) -> Value:
    """What stands between the brackets; a tuple of constants is a constant: ``outputs["disparity", 0]``."""
    given = expressions.evaluate(interp, node.key, frame)
    return given if node.is_slice else mappings.as_key(given)


def owner(interp: Interpreter, node: f.Sub, frame: Frame) -> Obj | None:
    """What made arguments an item is an attribute of: ``args.__dict__["seed"]``, ``vars(args)["seed"]``."""
    of = node.value
    if isinstance(of, f.Attr) and of.name == "__dict__":
        found = expressions.evaluate(interp, of.value, frame)
    elif isinstance(of, f.Call) and isinstance(of.func, f.Name) and of.func.id == "vars" and len(of.args) == 1:
        found = expressions.evaluate(interp, of.args[0].value, frame)
    else:
        return None
    return found if isinstance(found, Obj) else None


def note_setting(interp: Interpreter, node: f.Sub, holder: Value, value: Value) -> None:
    """Remembers what is put under two names or more into settings that are not known: ``opt["path"]["last"] = path``.

    Wherever such settings go, what has the same names in them is the same.
    """
    names = _names(node) if type(node.value) is f.Sub and _is_unknown(holder) else ()
    if names:
        interp.heap.note(interp.notes, (_SETTING, names), interp.since(()), value)


def _is_unknown(value: Value) -> bool:
    """Whether nothing is known of a value, in whatever case."""
    return type(value) is Unknown or (
        type(value) is Phi and all(type(leaf) is Unknown for _, leaf in value.alternatives)
    )


def _setting(interp: Interpreter, node: f.Sub, otherwise: Value) -> Value:
    """What the program has put under these names into settings that are not known."""
    names = _names(node)
    found = interp.noted((_SETTING, names)) if names else None
    return otherwise if found is None else interp.resolve(in_place_of_absent(found, otherwise))


def _names(node: f.Sub) -> tuple[str, ...]:
    """The names, two or more, under which something stands in settings: ``self.opt["path"]["last"]``."""
    names: list[str] = []
    holder: f.Expr = node
    while isinstance(holder, f.Sub) and isinstance(holder.key, f.Const) and isinstance(holder.key.value, str):
        names.append(holder.key.value)
        holder = holder.value
    return tuple(names) if len(names) > 1 and is_of_config(f"{expressions.spelled(holder)}[") else ()


_SETTING = "setting"
"""The key of notes of what is put into settings that are not known."""


def note_index(interp: Interpreter, holder: Value, index: Value, frame: Frame, place: f.Place) -> None:
    """Tells of an array whose item is found by the hash of something."""
    if any(interp.hooks.is_array(leaf) for _, leaf in alternatives(holder)) and "hash" in taint([index])[0]:
        interp.event("index", "array", frame, place, (index,))


def put(interp: Interpreter, holder: Inst, index: Value, value: Value, frame: Frame, place: f.Place) -> None:
    """``holder[index] = value`` of an object of the program: what its class does then."""
    method = attributes.class_attribute(interp, holder.cls, "__setitem__")
    if isinstance(method, Func):
        calls.call(interp, Bound(method, holder), [index, value], {}, frame, place)


FILL = "fill"
"""The kind of event for something put into places of an array that is no array itself, as far as it is known."""
_HASH = "hash"
"""The origin of what is made of a hash, which a salt changes in each process."""


def note_assigned(
    interp: Interpreter, target: f.Sub, holder: Value, given: tuple[Value, Value], frame: Frame, place: f.Place
) -> None:  # fmt: skip
    """Tells of an array that is given values: as a call where that is an op, at computed places.

    ``given`` are the index and the values: ``array[rows, columns] = values``.
    """
    index, value = given
    discards.filed(interp, target, given, place)
    parts = index.items or () if isinstance(index, Seq) else (index,)
    places = not target.is_slice and any(map(_is_computed, parts)) and not isinstance(value, Const)
    for cond, leaf in alternatives(holder):
        if isinstance(leaf, Unknown) and is_number(index) and _HASH in taint([value])[0]:
            interp.under(cond, partial(interp.event, "put", "?.__setitem__", frame, place, given, receiver=leaf))
        if not isinstance(leaf, Obj):
            continue
        name = f"{leaf.type}.__setitem__"
        array = interp.hooks.is_array(leaf)
        kind = "call" if places and name in interp.knowledge.ops else "put" if isinstance(value, Obj) else FILL
        if kind == "call" or array:
            interp.under(cond, partial(interp.event, kind, name, frame, place, given, receiver=leaf))


def _is_computed(index: Value) -> bool:
    """Whether an index may be an array of them: not a number, nor a slice."""
    return isinstance(index, (Obj, Ref, Phi)) or (isinstance(index, Unknown) and not is_number(index))


def _may_be_any(holder: Dict, index: Value) -> bool:
    """Whether an index may pick out one of several things, or the only one by a key of which nothing is known."""
    return len(holder.items) > 1 or not (holder.open or isinstance(index, (FlagValue, Phi)))


def _by_flag(interp: Interpreter, holder: Dict, index: FlagValue) -> Value | None:
    """What a flag picks out of a table of functions, classes and modules, each under its condition; else None."""
    keys = [key for key in interp.heap.items(holder) if isinstance(key, (str, int))]
    if holder.open or not 1 < len(keys) == len(holder.items) or len(keys) > MAX_THINGS:
        return None
    if not all(map(_is_thing, holder.items.values())):
        return None
    return choose([(flag_test(index.flag, "==", key), holder.items[key]) for key in keys])


def _entry(interp: Interpreter, table: Dict, index: Value, node: f.Sub, frame: Frame) -> Value | None:
    """What a table of tuples, dicts or objects holds under a key: ``MODELS[name]``, pairs of a class and a size."""
    return composites.of_table(interp, table, lambda parts: _item(interp, parts, index, node, frame))


def _by_switch(interp: Interpreter, pair: list[Value], index: FlagValue | CondValue) -> Value:
    """Which of two a switch, or the number of one of them, picks: ``(plain, noisy)[args.noisy]``."""
    if isinstance(index, FlagValue) and index.flag.kind == "value":
        second = flag_test(index.flag, "==", 1)
    else:
        second = comparisons.condition(interp, index, "")
    return choose([(negate(second), pair[0]), (second, pair[1])])


def _is_thing(value: Value) -> bool:
    """Whether a value is a function, class or module, or a few things with one among them: ``"small": [Net, 512]``."""
    if isinstance(value, Seq) and value.items:
        return any(isinstance(item, _THINGS) for item in value.items)
    return isinstance(value, _THINGS)


_THINGS = (Class, Func, Module, Ref)


def _of_lists(interp: Interpreter, table: Dict, index: Value, node: f.Sub, frame: Frame) -> Seq | None:
    """A list of functions out of a table of such: ``for augment in AUGMENTS[policy]: x = augment(x)``."""
    if len(table.items) < 2 or not all(map(_is_list_of_functions, table.items.values())):
        return None
    each: dict[object, Value] = {
        key: Phi(tuple((True, one) for one in held.items))
        for key, held in interp.heap.items(table).items()
        if isinstance(held, Seq) and held.items
    }
    any_of = dispatch.of_table(interp, Dict(each, table.open), index, expressions.spelled(node.key), frame, node.place)
    return Seq("list", None, any_of)


def _is_list_of_functions(value: Value) -> bool:
    return (
        isinstance(value, Seq)
        and value.kind == "list"
        and all(isinstance(one, (Func, Class)) for one in value.items or (None,))
    )


def _item(interp: Interpreter, holder: Value, index: Value, node: f.Sub, frame: Frame) -> Value:
    if isinstance(held := sequences.contents(holder), Dict):
        holder = held
    if isinstance(holder, Ref) and holder.name == "os.environ":
        known = interp.variable(str(index.value)) if isinstance(index, Const) else UNKNOWN
        return Unknown(frozenset({"env"})) if known is None else known
    if isinstance(holder, Ref) and holder.name == "sys.modules" and isinstance(index, Const):
        module = next((one for one in interp.modules.values() if one.name == index.value), None)
        return Unknown() if module is None else module
    if isinstance(holder, Ref) and (given := argv.word(interp, holder, index)) is not None:
        return given
    if isinstance(holder, (Class, Ref)) and (generic := generics.of_types(interp, holder, index)) is not None:
        return generic
    if isinstance(holder, Dict) and isinstance(index, Const):
        try:
            found = interp.heap.item(holder, index.value)
        except TypeError:
            found = None
        if found is not None:
            return interp.resolve(_if_there(found, holder))
        return mappings.held(interp, holder, index)
    if isinstance(holder, Dict) and isinstance(index, Phi) and (each := mappings.by_keys(interp, holder, index)):
        return choose([(cond, value) for cond, _, value in each])
    if isinstance(holder, Dict) and holder.element is not None:
        return mappings.under(interp, holder.element, index)
    if isinstance(holder, Dict) and (entry := _entry(interp, holder, index, node, frame)) is not None:
        return entry
    if (
        isinstance(holder, Dict)
        and isinstance(index, FlagValue)
        and (chosen := _by_flag(interp, holder, index)) is not None
    ):
        return chosen
    if isinstance(holder, Dict) and (listed := _of_lists(interp, holder, index, node, frame)) is not None:
        return listed
    if isinstance(holder, Dict) and members.holds_callables(holder) and _may_be_any(holder, index):
        return dispatch.of_table(interp, holder, index, expressions.spelled(node.key), frame, node.place)
    if isinstance(holder, Dict) and (alike := mappings.any_alike(interp, holder)) is not None:
        return alike
    if isinstance(holder, Dict) and len(holder.items) > 1 and members.holds_objects(holder):
        return choose(
            dispatch.of_table(interp, holder, index, expressions.spelled(node.key), frame, node.place).options
        )
    if isinstance(holder, Dict) and isinstance(index, (FlagValue, Phi)):
        return (
            choose([(True, value) for value in list(interp.heap.items(holder).values())[:1]])
            if len(holder.items) == 1
            else UNKNOWN
        )
    if isinstance(holder, Seq):
        selection.note(interp, holder, index, node, frame)
        if node.is_slice:
            kept = sequences.cut(holder, node, index)
            return Seq(holder.kind, kept, holder.element or _any(holder), holder.order, holder.sources)
        if isinstance(index, (FlagValue, CondValue)) and len(holder.items or ()) == 2:
            return _by_switch(interp, holder.items or [], index)
        number = index.value if isinstance(index, Const) and isinstance(index.value, int) else None
        if holder.items is not None and number is not None and -len(holder.items) <= number < len(holder.items):
            return interp.resolve(holder.items[number])
        return holder.element or _any(holder)
    if isinstance(holder, Const) and isinstance(index, Const) and not node.is_slice:
        try:
            return Const(holder.value[index.value])
        except (TypeError, IndexError, KeyError):
            return UNKNOWN
    if isinstance(holder, Const) and isinstance(holder.value, str) and node.is_slice:
        return _cut_text(holder.value, node, index)
    if isinstance(holder, FlagValue) and isinstance(index, Const) and isinstance(holder.flag.default, (list, tuple)):
        return _part_of_flag(holder.flag, index.value)
    if isinstance(holder, Inst):
        method = attributes.class_attribute(interp, holder.cls, "__getitem__")
        if isinstance(method, Func):
            given = Unknown() if node.is_slice else index
            return calls.call(interp, Bound(method, holder), [given], {}, frame, node.place)
    if isinstance(holder, Obj):
        held = nodes.item(interp, holder, index.value) if isinstance(index, Const) else None
        if held is not None:
            return held
        selection.note(interp, holder, index, node, frame)
        if holder.type in interp.hooks.items_alike or (node.is_slice and _keeps_all(node.key)):
            return holder
    if isinstance(holder, Module):
        return dispatch.of_module(interp, holder, index, expressions.spelled(node.key), frame, node.place)
    if isinstance(holder, Ref) and holder.name.endswith(".__dict__"):
        outside = Ref(holder.name.removesuffix(".__dict__"), holder.receiver)
        return dispatch.member(interp, outside, index, expressions.spelled(node.key), frame, node.place)
    found = ask(interp.hooks.part, holder) if node.is_slice else None
    if found is None:
        found = ask(interp.hooks.subscript, holder, index)
    if found is not None:
        return found  # type: ignore[no-any-return]
    if isinstance(holder, Unknown):
        selection.note(interp, holder, index, node, frame)
    if isinstance(index, Seq) and index.order and not node.is_slice:  # the columns of a frame, in the order of a list
        return Unknown(*taint([holder, index]))
    if (named := dispatch.class_name(holder, index)) is not None:
        return named
    origins, order, sources = taint([holder])
    found = Unknown(origins, order if node.is_slice else "", sources)
    return as_setting(interp, found, holder, index.value, node) if isinstance(index, Const) else found


def asked(interp: Interpreter, found: Value, key: str, node: f.Call) -> Value:
    """What ``holder.get(key)`` gives: of a configuration that is not known a setting, as ``holder[key]`` does."""
    if not is_of_config(expressions.spelled(node)):
        return found
    if isinstance(found, Obj) and found.event is not None and _is_getter(found.event) and not found.attrs:
        holder = found.event.receiver
        return as_setting(interp, Unknown(*taint([found])), UNKNOWN if holder is None else holder, key, node)
    if type(found) is Unknown and not found.name:
        return as_setting(interp, Unknown(found.origins, found.order, found.sources), found, key, node)
    return found


def _is_getter(event: Event) -> bool:
    return event.name.rpartition(".")[2] in expressions.GETTERS


def as_setting(interp: Interpreter, found: Unknown, holder: Value, key: object, node: f.Sub | f.Call) -> Unknown:
    """What stands in a configuration under a key, with its name there: ``config["mode"]``, ``config.get("mode")``."""
    found.key = interp.knowledge.key_in_configs(holder.key if isinstance(holder, Unknown) else "", key)
    words = expressions.spelled(node)
    if is_of_config(words):
        found.name = words
    return found


def _if_there(found: Value, holder: Dict) -> Value:
    """What a dict holds under a key; where it holds nothing, asking for it raises, or nobody knows."""
    there = [one for one in alternatives(found) if one[1] is not ABSENT]
    return choose(there) if there and not holder.open else in_place_of_absent(found, UNKNOWN)


def _cut_text(text: str, node: f.Sub, index: Value) -> Value:
    """What a slice between known numbers leaves of a text."""
    ends = sequences.bounds(node, index)
    return UNKNOWN if ends is None else Const(text[ends[0] : ends[1]])


def _part_of_flag(flag: Flag, index: object) -> Value:
    """One value of a flag that takes several (``nargs=2``): a flag of its own as far as conditions go."""
    default = flag.default
    if not isinstance(index, int) or not -len(default) <= index < len(default):
        return UNKNOWN
    part = f"[{index}]"
    return FlagValue(flag._replace(name=flag.name + part, spelled=flag.spelled + part, default=default[index]))


def _keeps_all(key: f.Expr) -> bool:
    """Whether a subscript only adds axes: ``x[tf.newaxis, :]``, ``x[:, None]``."""
    parts = key.items if isinstance(key, f.Items) else (key,)
    return all(
        (isinstance(p, f.Const) and p.value is None) or (isinstance(p, f.Attr) and p.name == "newaxis") for p in parts
    )


def _any(holder: Seq) -> Value:
    return holder.items[0] if holder.items else UNKNOWN
