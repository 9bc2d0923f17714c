"""What ``eval`` gives of a text that is a name, or a call of one: ``eval(args.runner)``, ``eval(mode + "(args)")``.

What else a text may hold is not evaluated, and told as not followed.
"""

from __future__ import annotations

import re
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING

from d9mlint.model import Location
from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import UNKNOWN_DEFAULT, flag_test, negate
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.taint import text_of
from d9mlint.python.domain.values import (
    ABSENT,
    UNKNOWN,
    Class,
    Const,
    Dynamic,
    FlagValue,
    Func,
    Inst,
    Module,
    Ref,
    Text,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import attributes, calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import dispatch, environment

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_PATH = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
"""A name, and attributes of what it stands for."""
_CALL = re.compile(rf"([\w.]*)\(\s*({_PATH.pattern}(?:\s*,\s*{_PATH.pattern})*)?\s*\)\s*")
"""The end of a name, and the names that what it stands for is called with."""
EVALUATED = "evaluated"
"""The kind of a call of ``eval`` whose text was followed."""


def _eval(interp: Interpreter, event: Event, frame: Frame) -> Value:
    if len(event.args) > 1 and not (isinstance(event.args[1], Module) and event.args[1] is frame.module):
        return UNKNOWN  # in other names than those that stand here
    texts = alternatives(environment.first(event))
    return choose([(c, interp.under(c, partial(_result, interp, event, text, frame)) or ABSENT) for c, text in texts])


def _result(interp: Interpreter, event: Event, text: Value, frame: Frame) -> Value:
    """What a text gives: that of a call where it ends in one whose arguments are names."""
    parts = text.parts if isinstance(text, Text) else (text,)
    last = parts[-1]
    match = _CALL.fullmatch(last.value) if isinstance(last, Const) and isinstance(last.value, str) else None
    if match is None:
        return _of_text(interp, event, text, frame)
    name: Value = Const(match[1])
    if len(parts) > 1:
        rest = [*parts[:-1], *([name] if match[1] else [])]
        name = rest[0] if len(rest) == 1 else text_of(rest)
    func = _of_text(interp, event, name, frame)
    if not _is_known(func):
        return UNKNOWN
    args = [_named(interp, event, one.strip(), frame) for one in (match[2] or "").split(",") if one.strip()]
    interp.heap.mark(event, kind=EVALUATED)
    return calls.call(interp, func, args, {}, frame, environment.place_of(event))


def _of_text(interp: Interpreter, event: Event, text: Value, frame: Frame) -> Value:
    if isinstance(text, Const):
        return _named(interp, event, text.value, frame)
    if isinstance(text, FlagValue):
        return _of_flag(interp, event, text, frame)
    first = text.first if isinstance(text, Text) else None
    if not isinstance(text, Text) or not isinstance(first, Const) or not isinstance(first.value, str):
        return UNKNOWN
    found: Value | None = None
    names = _between_dots(text)
    for number, parts in enumerate(names):
        if not all(isinstance(part, Const) for part in parts):
            found = _one_of(interp, event, found or frame.module, parts, frame, number + 1 < len(names))
            continue
        name = "".join(str(part.value) for part in parts if isinstance(part, Const))
        if not name.isidentifier():
            return UNKNOWN
        found = _attribute(interp, event, found, name, frame) if found else interp.load(name, frame)
    return found or UNKNOWN


def _one_of(
    interp: Interpreter, event: Event, holder: Value, parts: list[Value], frame: Frame, goes_on: bool
) -> Value:  # fmt: skip
    """What has a name that is not known as a whole; a module, too, where more names follow."""
    name = parts[0] if len(parts) == 1 else text_of(parts)
    found = _member(interp, event, holder, name, frame)
    inside = _submodules(interp, holder) if goes_on else {}
    if not inside or not isinstance(found, Dynamic):
        return found
    at = Location(frame.module.path, *environment.place_of(event))
    modules = dispatch.chosen(inside, name, dispatch.called(name), found.reason, at)
    return Dynamic(found.reason, found.name, (*found.options, *modules.options), found.open, found.by_flag)


def _submodules(interp: Interpreter, package: Value) -> dict[str, Value]:
    """The modules of a package that the program has imported, by name."""
    if not isinstance(package, Module) or not package.path.endswith("__init__.py"):
        return {}
    folder = package.path.removesuffix("__init__.py")
    loaded = {
        path: module for path, module in interp.modules.items() if path.startswith(folder) and module is not package
    }
    return {
        name: module for path, module in sorted(loaded.items())
        if "/" not in (name := path[len(folder) :].removesuffix("/__init__.py").removesuffix(".py"))
    }  # fmt: skip


def _between_dots(text: Text) -> list[list[Value]]:
    """The names of a path, each as the parts that it is joined from: ``"models." + arch + ".build"`` are three."""
    names: list[list[Value]] = [[]]
    for part in text.parts:
        if not (isinstance(part, Const) and isinstance(part.value, str)):
            names[-1].append(part)
            continue
        for number, piece in enumerate(part.value.split(".")):
            if number:
                names.append([])
            if piece:
                names[-1].append(Const(piece))
    return names


def _of_flag(interp: Interpreter, event: Event, text: FlagValue, frame: Frame) -> Value:
    """What the text of a flag may name; where it has a default, that and others of its kind."""
    flag = text.flag
    if flag.choices:
        return choose([(flag_test(flag, "==", one), _named(interp, event, one, frame)) for one in flag.choices])
    by_default = _named(interp, event, flag.default, frame) if flag.default != UNKNOWN_DEFAULT else None
    if not isinstance(by_default, (Class, Func, NoneType)):
        is_default = flag_test(flag, "==", flag.default)
        return choose([(is_default, by_default), (negate(is_default), UNKNOWN)])
    found = _member(interp, event, frame.module, text, frame)
    if not isinstance(found, Dynamic):
        return found
    alike = tuple(one for one in found.options if by_default is None or isinstance(one[1], type(by_default)))
    return Dynamic(found.reason, options=alike, open=by_default is None)


def _named(interp: Interpreter, event: Event, text: object, frame: Frame) -> Value:
    """What a name, or a path of attributes, stands for here."""
    if not isinstance(text, str) or not _PATH.fullmatch(text.strip()):
        return UNKNOWN
    first, *names = text.strip().split(".")
    found = interp.load(first, frame)
    for name in names:
        found = _attribute(interp, event, found, name, frame)
    return found


def _attribute(interp: Interpreter, event: Event, holder: Value, name: str, frame: Frame) -> Value:
    """An attribute; of one of several things that of each."""
    if isinstance(holder, Dynamic):
        each = tuple((cond, _attribute(interp, event, one, name, frame)) for cond, one in holder.options)
        return Dynamic(holder.reason, holder.name, each, holder.open, holder.by_flag)
    return attributes.attribute(interp, holder, name, frame, environment.place_of(event))


def _member(interp: Interpreter, event: Event, holder: Value, name: Value, frame: Frame) -> Value:
    return dispatch.member(interp, holder, name, dispatch.called(name), frame, environment.place_of(event))


def is_followed(event: Event) -> bool:
    """Whether the text that ``eval`` is given was a name, or a call of one, and what has such a name is known."""
    return event.kind == EVALUATED or _is_known(event.result)


def _is_known(value: Value | None) -> bool:
    """Whether a value is one of the things that have names, or one of some of them."""
    found = [leaf for _, leaf in alternatives(value)]
    return bool(found) and all(
        bool(leaf.options) and not leaf.open if isinstance(leaf, Dynamic) else isinstance(leaf, _THINGS)
        for leaf in found
    )


_THINGS = (Class, Func, Inst, Module, Ref)
TRANSFER: dict[str, Transfer] = {"builtins.eval": _eval}
