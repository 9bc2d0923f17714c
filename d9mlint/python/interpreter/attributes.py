"""``holder.name`` for every kind of holder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from d9mlint.python.domain.choices import choose, in_place_of_absent
from d9mlint.python.domain.conditions import Cond
from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.reflected import AnyModule, Attributes, Fields
from d9mlint.python.domain.values import (
    ABSENT,
    Bound,
    Class,
    Const,
    Dict,
    Dynamic,
    FlagValue,
    Func,
    Inst,
    Module,
    Obj,
    Phi,
    Record,
    Ref,
    Seq,
    Super,
    Text,
    Unknown,
    Value,
)
from d9mlint.python.interpreter import calls, linking
from d9mlint.python.interpreter.hooks import ask
from d9mlint.python.interpreter.library import dispatch, environment, reflection
from d9mlint.python.interpreter.library.arguments import commands
from d9mlint.python.interpreter.library.containers import mappings
from d9mlint.python.interpreter.marks import discards
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter


_ALL_FLAGS = frozenset(
    f"absl.flags.FLAGS.{name}" for name in ("__dict__", "flag_values_dict", "flags_into_string", "flags_by_module_dict")
)
"""Attributes that hand out every flag at once."""
_DICT = frozenset(dir(dict))
_ONLY_OF_PATHS = frozenset(dir(Path)) - frozenset(dir(str))
"""Attributes that paths have and texts have not: of a flag whose default is a text (``type=Path``), say."""
_OWN_NAMES = ("__name__", "__qualname__")
"""Attributes of functions and classes that say how they are called; of nested ones the second says more."""
_OF_DICT = frozenset({"keys", "get", "items", "values"})


def attribute(interp: Interpreter, holder: Value, name: str, frame: Frame, place: f.Place) -> Value:
    """``holder.name``."""
    if isinstance(holder, Phi):
        options: list[tuple[Cond, Value]] = []
        for cond, leaf in holder.alternatives:
            if isinstance(leaf, Const) and leaf.value is None:  # nothing that a program asks for an attribute
                options.append((cond, ABSENT))
                continue
            found = interp.under(cond, partial(attribute, interp, leaf, name, frame, place))
            if found is not None:
                options.append((cond, found))
        return choose(options)
    if holder is ABSENT:
        return ABSENT
    if isinstance(holder, Module):
        if name == "__dict__":
            return holder
        if name in _OF_DICT and holder.frame is not None and name not in holder.frame.vars:
            return Ref(f"builtins.dict.{name}", holder)  # (of its `__dict__`)
        return linking.member(interp, holder, name, frame, place)
    if isinstance(holder, Ref):
        dotted = interp.knowledge.canonical(f"{holder.name}.{name}")
        flag = interp.command_line.absl_flag(interp, dotted)
        if flag is not None:
            return flag
        if dotted in _ALL_FLAGS:
            interp.note("flags-escape")
            if name == "__dict__":
                return interp.command_line.all_absl_values(interp)
        known = interp.knowledge.constant(dotted, interp.target)
        return known or Ref(f"{holder.name}.{name}", holder.receiver or holder)
    if isinstance(holder, Inst):
        return _instance_attribute(interp, holder, name, frame, place)
    if isinstance(holder, Class):
        if name in _OWN_NAMES:
            return Const(holder.node.name)
        if name == "__module__":
            return Const(holder.frame.module.name)
        if (seen := reflection.of_class(interp, holder, name)) is not None:
            return seen
        found = class_attribute(interp, holder, name) or ask(interp.hooks.attribute, interp, holder, name)
        return found or external(holder, name, holder) or Unknown(name=name)
    if isinstance(holder, Super):
        return _super_attribute(interp, holder, name)
    if isinstance(holder, Obj):
        if holder.type == environment.NAMESPACE:
            interp.note(("read-flag", name), name)
            if name == "__dict__":
                environment.escape(interp, holder)
                return interp.command_line.all_values(interp, holder)
        elif holder.type == environment.HOLDER and isinstance(flag_name := holder.attrs.get("name"), Const):
            interp.note(("read-flag", flag_name.value), flag_name.value)
        interp.heap.read(holder, name, holder.attrs.get(name))
        if name in holder.attrs:
            return interp.resolve(holder.attrs[name])
        if holder.type == environment.NAMESPACE:
            return interp.command_line.read(interp, holder, name)
        discards.looked_at(interp, holder, name)
        dotted = f"{holder.type}.{name}"
        return holder if dotted in interp.hooks.views else Ref(dotted, holder)
    if isinstance(holder, AnyModule) and (its := holder.member(interp, name, frame, place)) is not None:
        return its
    if isinstance(holder, Dynamic) and (its := dispatch.attribute_of_each(interp, holder, name, frame, place)):
        return its
    if isinstance(holder, Record):
        return _of_record(interp, holder, name, frame, place)
    if isinstance(holder, Fields) and holder.items is not None and name in holder.names:
        return interp.resolve(holder.items[holder.names.index(name)])
    kind = _builtin_kind(holder)
    if name in _ONLY_OF_PATHS and (kind == "str" or (isinstance(holder, Text) and holder.path)):
        return Ref(f"pathlib.Path.{name}", holder)
    if kind:
        return Ref(f"builtins.{kind}.{name}", holder)
    if isinstance(holder, (Func, Bound)) and name in _OWN_NAMES:
        inner = holder.func if isinstance(holder, Bound) else holder
        return Const(inner.name) if isinstance(inner, Func) else Unknown(name=name)
    if isinstance(holder, (Func, Bound)) and (given := ask(interp.hooks.attribute, interp, holder, name)) is not None:
        return given  # type: ignore[no-any-return]
    if isinstance(holder, Func) and (method := commands.method_of_group(interp, holder, name)) is not None:
        return method
    if isinstance(holder, Func) and name in ("main", "callback", "__wrapped__"):
        return holder
    discards.looked_at(interp, holder, name)
    return Ref(f"?.{name}", holder)


def _of_record(interp: Interpreter, holder: Record, name: str, frame: Frame, place: f.Place) -> Value:
    found = class_attribute(interp, holder.cls, name)
    if isinstance(found, Func):
        return _method(interp, found, holder, holder.cls, frame, place)
    if found is not None or name in _DICT:
        return found or Ref(f"builtins.dict.{name}", holder)
    item = interp.heap.item(holder, name)
    return Unknown(name=name) if item is None else interp.resolve(in_place_of_absent(item, Unknown(name=name)))


def _builtin_kind(holder: Value) -> str:
    if isinstance(holder, Const):
        return "str" if isinstance(holder.value, str) else ""
    if isinstance(holder, FlagValue):
        return "str" if isinstance(holder.flag.default, str) else ""
    if isinstance(holder, Seq):
        return holder.kind
    return "dict" if isinstance(holder, Dict) else ""


def _instance_attribute(interp: Interpreter, holder: Inst, name: str, frame: Frame, place: f.Place) -> Value:
    interp.heap.read(holder, name, holder.attrs.get(name))
    if name in holder.attrs:
        kept = interp.resolve(holder.attrs[name])
        return _in_any_turn(interp, holder, name, kept) if interp.loops and is_number(kept) else kept
    if name == "__dict__":
        return Attributes(holder)
    if name == "__class__" and (its := reflection.class_of(interp, holder)) is not None:
        return its
    found = class_attribute(interp, holder.cls, name)
    if isinstance(found, Func):
        return _method(interp, found, holder, holder.cls, frame, place)
    if found is not None:
        return found
    return external(holder.cls, name, holder) or _handed_on(interp, holder, name, frame, place) or Unknown(name=name)


def assign(interp: Interpreter, holder: Inst, name: str, value: Value, frame: Frame, place: f.Place) -> None:
    """``holder.name = value``: what the object holds then, or what the setter of a property does."""
    found = next((current.frame.vars[name] for current in holder.cls.line() if name in current.frame.vars), None)
    if isinstance(found, Func) and found.setter is not None and id(found) not in interp.running:
        found.setter.owner = found.owner
        calls.call(interp, Bound(found.setter, holder), [value], {}, frame, place)
        return
    interp.heap.set(holder, name, interp.since(holder.born), value)
    if name == "__dict__":
        mappings.merge(interp, Attributes(holder), value, interp.since(holder.born))


def _handed_on(interp: Interpreter, holder: Inst, name: str, frame: Frame, place: f.Place) -> Value | None:
    """What ``__getattr__`` of its class gives for an attribute that an object lacks; None where it is not known.

    An object may be in another of the same class that asks it in turn; one that it raises ``AttributeError`` for is
    mostly asked for by what expects that.
    """
    method = class_attribute(interp, holder.cls, "__getattr__")
    if not isinstance(method, Func) or id(holder) in interp.running:
        return None
    stopped, others = interp.stopped, interp.running
    interp.running = {*others, id(holder)} - {id(method)}
    try:
        given = calls.call(interp, Bound(method, holder), [Const(name)], {}, frame, place)
    finally:
        interp.stopped, interp.running = stopped, others
    return None if isinstance(given, Unknown) or (isinstance(given, Const) and given.value is None) else given


def _method(interp: Interpreter, func: Func, holder: Value, cls: Class, frame: Frame, place: f.Place) -> Value:
    """What a function of its class is to an object: a method, or what a property gives."""
    decorators = [d.name for d in func.decorators if isinstance(d, Ref)]
    if any(d.endswith(("property", "cached_property")) for d in decorators):
        return calls.call(interp, Bound(func, holder), [], {}, frame, place)
    if "builtins.staticmethod" in decorators:
        return func
    return Bound(func, cls if "builtins.classmethod" in decorators else holder)


def is_number(value: Value) -> bool:
    """Whether a value is a number that is known."""
    return isinstance(value, Const) and type(value.value) in (int, float)


def _in_any_turn(interp: Interpreter, holder: Inst, name: str, kept: Value) -> Value:
    """A number that an object keeps, in whichever turn of a loop: what is counted on is not what it was at first."""
    counts = any(name in interp.project.tallied(cls.frame.module.path) for cls in holder.cls.line())
    return Unknown(frozenset({"int"})) if counts else kept


def class_attribute(interp: Interpreter, cls: Class, name: str) -> Value | None:
    for current in cls.line():
        interp.heap.read(current.frame, name, current.frame.vars.get(name))
        if name in current.frame.vars:
            found = interp.resolve(current.frame.vars[name])
            if isinstance(found, Func) and any(
                isinstance(d, Ref) and d.name == "builtins.classmethod" for d in found.decorators
            ):
                return Bound(found, cls)
            return found
    return None


def external(cls: Class, name: str, receiver: Value) -> Value | None:
    bases = cls.external()
    return Ref(f"{bases[0]}.{name}", receiver) if bases and bases[0] != "builtins.object" else None


def _super_attribute(interp: Interpreter, holder: Super, name: str) -> Value:
    for base in holder.cls.bases:
        if isinstance(base, Class):
            found = class_attribute(interp, base, name)
            if isinstance(found, Func):
                return Bound(found, holder.receiver)
            if found is not None:
                return found
    return external(holder.cls, name, holder.receiver) or Unknown(name=name)
