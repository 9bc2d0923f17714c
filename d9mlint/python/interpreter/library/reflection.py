"""What a program asks about itself: the names of a function, the class of an object, the parameters of a function.

Many keep the arguments of a constructor as attributes by it: ``self.__dict__.update(locals())``. What cannot be known
stays unknown.
"""

from __future__ import annotations

import abc
import typing
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import Cond, both, either
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.linearization import merged
from d9mlint.python.domain.reflected import Fields, Names
from d9mlint.python.domain.values import (
    ABSENT,
    NONE,
    STAR,
    UNKNOWN,
    Bound,
    Class,
    CondValue,
    Const,
    Dict,
    Func,
    Inst,
    Obj,
    Ref,
    Seq,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import attributes, binding
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_OBJECT = "builtins.object"
_KNOWN = {_OBJECT: object, "abc.ABC": abc.ABC, "typing.Generic": typing.Generic}
"""Classes outside the program whose names are the same in every version of Python."""
_TRANSPARENT = frozenset({"builtins.staticmethod", "builtins.classmethod", "abc.abstractmethod"})
"""Decorators that leave the parameters of a function as they are."""
_HIDDEN = ("__module__", "__doc__", "__dict__", "__weakref__")
"""Names that each class has, written or not."""
_SUBCLASSES = "__subclasses__"
_EMPTY = Ref("inspect.Parameter.empty")


# -- names ---------------------------------------------------------------------------------------------------------


def names_here(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``locals()``, ``vars()``: of a function its names, outside of all functions and classes those of the module."""
    func = frame.func
    if event.args:
        return None
    if func is None and not frame.body_of_class:
        return frame.module if frame is frame.module.frame else None
    names = {name: interp.resolve(value) for name, value in frame.vars.items() if name != STAR}
    inside = func is not None and frame.parent is func.closure  # neither a comprehension nor the body of a class
    sure = frozenset(param.name for param in func.node.params) if func is not None and inside else frozenset()
    free = func is None or func.closure.func is not None
    return Names(names, sure & names.keys(), free or not names.keys() <= sure)


# -- classes -------------------------------------------------------------------------------------------------------


def class_of(interp: Interpreter, value: Value) -> Class | None:
    """The class of an object; None where it may be one that is derived of it, as nobody made the object."""
    return value.cls if isinstance(value, Inst) and not interp.detached else None


def of_class(interp: Interpreter, cls: Class, name: str) -> Value | None:
    """An attribute that each class has; None for all others, and where it is not known."""
    if name == "__dict__":
        return names_of(interp, cls)
    if name == "mro":
        return Ref("builtins.type.mro", cls)
    if name == _SUBCLASSES:
        return Ref(f"builtins.type.{_SUBCLASSES}", cls)
    if name == "__bases__":
        return Seq("tuple", list(cls.bases) or [Ref(_OBJECT)])
    found = _line(cls) if name == "__mro__" else None
    return None if found is None else Seq("tuple", found)


def names_of(interp: Interpreter, cls: Class) -> Dict:
    """``vars(cls)``: what stands in the body of a class, or was set since."""
    names: dict[str, Value] = {}
    for name, value in cls.frame.vars.items():
        interp.heap.read(cls.frame, name, value)
        names[name] = interp.resolve(value)
    changed = any(one.node.decorators or one.node.keywords for one in cls.line())  # a decorator, a metaclass
    perhaps = any(leaf is UNKNOWN for value in names.values() for _, leaf in alternatives(value))
    return Dict({**names, **{name: UNKNOWN for name in _HIDDEN if name not in names}}, changed or perhaps)


def _line(cls: Value) -> list[Value] | None:
    """The order in which Python looks for a name (C3); None where a base is not known, or there is no such order.

    What a class outside the program is derived of stands there as one that is not known.
    """
    if isinstance(cls, Ref):
        above: list[Value] = [] if cls.name == _OBJECT else [_OBJECT_CLASS]
        return [cls, *([] if cls.name in _KNOWN else [UNKNOWN]), *above] if _is_class(cls) else None
    if not isinstance(cls, Class):
        return None
    bases = [_OBJECT_CLASS if _is_object(base) else base for base in cls.bases or (_OBJECT_CLASS,)]
    lines: list[Sequence[Value]] = [bases]
    for base in bases:
        line = _line(base)
        if line is None:
            return None
        lines.append(line)
    found = merged(lines, _is_same)
    return None if found is None else [cls, *found]


_OBJECT_CLASS = Ref(_OBJECT)


def _is_object(value: Value) -> bool:
    return isinstance(value, Ref) and value.name == _OBJECT


def _is_class(value: Ref) -> bool:
    return not value.name.startswith("?")


def _is_same(one: Value, other: Value) -> bool:
    if one is UNKNOWN:  # it may stand anywhere
        return False
    return one is other or (isinstance(one, Ref) and isinstance(other, Ref) and one.name == other.name)


def _type(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    if len(event.args) == 3 and not event.star:
        return _made(interp, event, frame)
    if len(event.args) != 1:
        return None
    return _of_each(event.args[0], lambda leaf: class_of(interp, leaf))


def _made(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``type("Net", (Base,), {"forward": forward})``: a class; None where what it is made of is not known."""
    name, bases, names = event.args
    known = isinstance(bases, Seq) and bases.items is not None and all(map(_is_base, bases.items))
    if not isinstance(names, Dict) or names.open or not isinstance(bases, Seq) or not known:
        return None
    named = str(name.value) if isinstance(name, Const) else "type"
    inner = Frame(frame.module, frame, interp.path, frame.func)
    inner.vars.update((key, value) for key, value in interp.heap.items(names).items() if isinstance(key, str))
    inner.body_of_class = True
    return Class(f.Class(named, (), (), (), environment.place_of(event)), tuple(bases.items or ()), inner)


def _is_base(value: Value) -> bool:
    return isinstance(value, Class) or (isinstance(value, Ref) and _is_class(value))


def _mro(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    found = _line(event.receiver) if event.receiver is not None else None
    return None if found is None else Seq("list", found)


def _subclasses(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``Base.__subclasses__()``: the classes derived of it in the modules that were imported, in that order."""
    frames = [module.frame for module in interp.story.modules if module.frame is not None]
    classes = (one for names in frames for value in names.vars.values() for _, one in alternatives(value))
    found: dict[int, Class] = {}
    for one in classes:
        if isinstance(one, Class) and any(base is event.receiver for base in one.bases):
            found[one.frame.tick] = one
    return Seq("list", [found[tick] for tick in sorted(found)]) if found else None


def _getmro(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    cls = environment.first(event)
    found = _line(cls) if cls is not None else None
    return None if found is None else Seq("tuple", found)


def names_outside(value: Value) -> Dict | None:
    """``vars(object)``: the names of a class outside the program that all versions of Python have alike."""
    known = _KNOWN.get(value.name) if isinstance(value, Ref) else None
    if not isinstance(value, Ref) or known is None:
        return None
    return Dict({name: Ref(f"{value.name}.{name}") for name in sorted(vars(known))})


# -- attributes ----------------------------------------------------------------------------------------------------


def _hasattr(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """Whether an object has an attribute by now: told only while it is made, as later it may be asked again."""
    name = environment.first(event, 1)
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return None
    answers: list[tuple[Cond, bool]] = []
    for cond, leaf in alternatives(environment.first(event)):
        answer = _has(interp, leaf, name.value) if isinstance(leaf, Inst) and not leaf.made else None
        if answer is None:
            return None
        answers.append((cond, answer))
    found = either(*(both(cond, answer) for cond, answer in answers))
    return Const(found) if isinstance(found, bool) else CondValue(found)


def _has(interp: Interpreter, holder: Inst, name: str) -> bool | None:
    held = holder.attrs.get(name)
    interp.heap.read(holder, name, held)
    if held is not None:
        return None if any(leaf is UNKNOWN or leaf is ABSENT for _, leaf in alternatives(held)) else True
    if holder.open or interp.detached or "__dict__" in holder.attrs:
        return None
    if attributes.class_attribute(interp, holder.cls, name) is not None or hasattr(object, name):
        return True
    for cls in holder.cls.line():
        names = names_of(interp, cls)
        outside = [base for base in cls.bases if not isinstance(base, Class)]
        if names.open or "__getattr__" in names.items or "__getattribute__" in names.items:
            return None
        if not all(isinstance(base, Ref) and base.name in _KNOWN for base in outside):
            return None
    return False


# -- parameters ----------------------------------------------------------------------------------------------------


def _function(interp: Interpreter, value: Value) -> tuple[Func, bool] | None:
    """The function whose parameters something that can be called has, and whether its first is taken already."""
    taken = isinstance(value, (Bound, Class))
    func: Value | None = value.func if isinstance(value, Bound) else value
    if isinstance(value, Class):
        func = binding.constructor(value, interp.hooks.plain_bases)
    if not isinstance(func, Func):
        return None
    plain = all(isinstance(one, Ref) and one.name in _TRANSPARENT for one in func.decorators)
    return (func, taken) if plain else None


def _argspec(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``inspect.getfullargspec(f)``, ``inspect.getargspec(f)``: with the first parameter, also of methods."""
    full = event.name == "inspect.getfullargspec"
    return _of_each(environment.first(event), lambda leaf: _argspec_of(interp, leaf, full))


def _argspec_of(interp: Interpreter, value: Value, full: bool) -> Value | None:
    if isinstance(value, Ref) and value.name == f"{_OBJECT}.__init__":
        return _spec(["self"], "args", "kwargs", NONE, {}, full)
    found = _function(interp, value)
    if found is None:
        return None
    func, _ = found
    by_kind: dict[str, list[str]] = {"pos": [], "kw": [], "*": [], "**": []}
    for param in func.node.params:
        by_kind[param.kind].append(param.name)
    given = [func.defaults[name] for name in by_kind["pos"] if name in func.defaults]
    keywords = {name: func.defaults.get(name) for name in by_kind["kw"]}
    rest = [next(iter(by_kind[kind]), None) for kind in ("*", "**")]
    return _spec(by_kind["pos"], rest[0], rest[1], Seq("tuple", given) if given else NONE, keywords, full)


def _spec(
    names: list[str], star: str | None, stars: str | None, defaults: Value, keywords: dict[str, Value | None],
    full: bool,
) -> Fields:  # fmt: skip
    fields: dict[str, Value] = {
        "args": Seq("list", [Const(name) for name in names]), "varargs": Const(star),
        "varkw" if full else "keywords": Const(stars), "defaults": defaults,
    }  # fmt: skip
    if full:
        given = {name: value for name, value in keywords.items() if value is not None}
        fields["kwonlyargs"] = Seq("list", [Const(name) for name in keywords])
        fields["kwonlydefaults"] = Dict(dict(given)) if given else NONE
        fields["annotations"] = UNKNOWN
    return Fields(fields)


def _signature(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``inspect.signature(f)``: without the first parameter where that is taken."""
    return _of_each(environment.first(event), lambda leaf: _signature_of(interp, leaf, event))


def _signature_of(interp: Interpreter, value: Value, event: Event) -> Value | None:
    found = _function(interp, value)
    if found is None:
        return None
    func, taken = found
    items: dict[str, Value] = {}
    for param in func.node.params[taken:]:
        one = Obj("inspect.Parameter", event)
        one.attrs.update(name=Const(param.name), default=func.defaults.get(param.name, _EMPTY))
        items[param.name] = one
    signature = Obj("inspect.Signature", event)
    signature.attrs["parameters"] = Dict(items)
    return signature


def _of_each(value: Value | None, of: Callable[[Value], Value | None]) -> Value | None:
    """What is known of each alternative of a value; None where one is not known."""
    found: list[tuple[Cond, Value]] = []
    for cond, leaf in alternatives(value):
        one = of(leaf)
        if one is None:
            return None
        found.append((cond, one))
    return choose(found) if found else None


def _property(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``property(fget, fset)``: as under the decorator, a function runs where the attribute is read or assigned to."""
    made = _decorated(event.args[0] if event.args else event.kwargs.get("fget"), event.name)
    setter = event.args[1] if len(event.args) > 1 else event.kwargs.get("fset")
    if made is not None and isinstance(setter, Func):
        made.setter = setter
    return made


def _static(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``load = staticmethod(read_weights)`` in the body of a class: a method that is given no object."""
    given = environment.first(event)
    return given if isinstance(given, Ref) else _decorated(given, event.name)


def _decorated(value: Value | None, name: str) -> Func | None:
    func = value.func if isinstance(value, Bound) else value
    if not isinstance(func, Func):
        return None
    return Func(func.node, func.closure, func.defaults, (*func.decorators, Ref(name)), func.owner)


TRANSFER: dict[str, Transfer] = {
    "builtins.property": _property, "builtins.staticmethod": _static, "builtins.classmethod": _static,
    "builtins.locals": names_here, "builtins.type": _type, "builtins.type.mro": _mro,
    f"builtins.type.{_SUBCLASSES}": _subclasses, "inspect.getmro": _getmro,
    "builtins.hasattr": _hasattr, "inspect.getfullargspec": _argspec, "inspect.getargspec": _argspec,
    "inspect.signature": _signature,
}  # fmt: skip
