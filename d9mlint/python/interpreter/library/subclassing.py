"""What a class does with those derived from it when they are defined: ``__init_subclass__``, and a metaclass.

Registries are filled so. Source: docs.python.org/3/reference/datamodel.html, "Customizing class creation".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import UNKNOWN, Bound, Class, Const, Func, Seq, Value
from d9mlint.python.interpreter import attributes, calls, expressions
from d9mlint.python.interpreter.hooks import Transfer

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_METACLASS = "metaclass"
_MADE = "class-that-is-made"


def defined(interp: Interpreter, cls: Class, frame: Frame) -> None:
    """Runs what the metaclass of a new class, and the nearest of its bases, have for it."""
    own = [(func, args) for func, args in _hooks(interp, cls) if isinstance(func, Func)]
    if own:
        kwargs = _keywords(interp, cls, frame)
        for func, args in own:
            calls.call(interp, func, args, kwargs, frame, cls.node.place)


def _hooks(interp: Interpreter, cls: Class) -> Iterator[tuple[Value | None, list[Value]]]:
    """What is called when a class is defined, as far as it has that, with what it is given."""
    meta = _metaclass(interp, cls)
    if meta is not None:
        interp.note(_MADE, cls)
        given: list[Value] = [Const(cls.node.name), Seq("tuple", list(cls.bases)), UNKNOWN]
        yield attributes.class_attribute(interp, meta, "__new__"), [meta, *given]
        yield attributes.class_attribute(interp, meta, "__init__"), [cls, *given]
    for base in cls.bases:
        hook = attributes.class_attribute(interp, base, "__init_subclass__") if isinstance(base, Class) else None
        if hook is not None:
            yield hook.func if isinstance(hook, Bound) else hook, [cls]
            return


def _metaclass(interp: Interpreter, cls: Class) -> Class | None:
    """The metaclass of a class, or of the first of its bases that has one; None for one of another package."""
    found = next(metaclasses(interp, cls), None)
    return found if isinstance(found, Class) else None


def metaclasses(interp: Interpreter, cls: Class) -> Iterator[Value]:
    """What a class and its bases name as their metaclasses, in the order of the bases."""
    for one in cls.line():
        for arg in one.node.keywords:
            if arg.keyword == _METACLASS:
                yield expressions.evaluate(interp, arg.value, one.frame)


def _keywords(interp: Interpreter, cls: Class, frame: Frame) -> dict[str, Value]:
    """What a class is given beside its bases and its metaclass: ``class Net(Base, name="net")``."""
    return {
        arg.keyword: expressions.evaluate(interp, arg.value, frame)
        for arg in cls.node.keywords
        if arg.keyword is not None and arg.keyword != _METACLASS
    }


def _made(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``type.__new__(meta, name, bases, attributes)`` in a metaclass: the class that is just being defined."""
    found: Value | None = interp.noted(_MADE)
    return found


TRANSFER: dict[str, Transfer] = {
    "builtins.type.__new__": _made,
    "abc.ABCMeta.__new__": _made,
    "enum.EnumMeta.__new__": _made,
}
