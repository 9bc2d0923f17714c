"""What a class does with those derived from it when they are defined: ``__init_subclass__``, and a metaclass.

Registries are filled so. Source: docs.python.org/3/reference/datamodel.html, "Customizing class creation".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import UNKNOWN, Bound, Class, Const, Func, Seq, Value
from d9mlint.python.interpreter import attributes, calls, expressions
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_METACLASS = "metaclass"
_MADE = "class-that-is-made"


def defined(interp: Interpreter, cls: Class, frame: Frame) -> None:
    """Runs what the metaclass of a new class, and the nearest of its bases, have for it."""
    meta = _metaclass(interp, cls)
    if meta is not None:
        interp.note(_MADE, cls)
        given: list[Value] = [Const(cls.node.name), Seq("tuple", list(cls.bases)), UNKNOWN]
        _run(interp, attributes.class_attribute(interp, meta, "__new__"), [meta, *given], frame, cls.node)
        _run(interp, attributes.class_attribute(interp, meta, "__init__"), [cls, *given], frame, cls.node)
    for base in cls.bases:
        hook = attributes.class_attribute(interp, base, "__init_subclass__") if isinstance(base, Class) else None
        if hook is not None:
            _run(interp, hook.func if isinstance(hook, Bound) else hook, [cls], frame, cls.node)
            return


def _metaclass(interp: Interpreter, cls: Class) -> Class | None:
    """The metaclass of a class, or of the first of its bases that has one; None for one of another package."""
    for one in cls.line():
        for arg in one.node.keywords:
            if arg.keyword == _METACLASS:
                found = expressions.evaluate(interp, arg.value, one.frame)
                return found if isinstance(found, Class) else None
    return None


def _run(interp: Interpreter, func: Value | None, args: list[Value], frame: Frame, node: f.Class) -> None:
    if not isinstance(func, Func):
        return
    kwargs = {
        arg.keyword: expressions.evaluate(interp, arg.value, frame)
        for arg in node.keywords
        if arg.keyword is not None and arg.keyword != _METACLASS
    }
    calls.call(interp, func, args, kwargs, frame, node.place)


def _made(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``type.__new__(meta, name, bases, attributes)`` in a metaclass: the class that is just being defined."""
    found: Value | None = interp.noted(_MADE)
    return found


TRANSFER: dict[str, Transfer] = {
    "builtins.type.__new__": _made,
    "abc.ABCMeta.__new__": _made,
    "enum.EnumMeta.__new__": _made,
}
