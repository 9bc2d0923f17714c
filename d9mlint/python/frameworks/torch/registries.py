"""Networks that a library makes by their names in settings: what of the program a registry was given."""

from __future__ import annotations

from collections.abc import Callable, Collection

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Class, Const, Func, Obj, Value
from d9mlint.python.interpreter.interpreter import Interpreter

_NAME = Argument(0, "name")


def registered(interp: Interpreter, decorators: Collection[str]) -> dict[str, Value]:
    """What stands at the top of the modules imported so far and one of these calls decorates, by its name."""
    return _decorated(interp, lambda made: made.name in decorators)


def held_by(interp: Interpreter, registry: Obj) -> dict[str, Value]:
    """The same of a registry that the program has made: ``HEADS = Registry("HEADS")``, ``@HEADS.register()``."""
    return _decorated(interp, lambda made: made.receiver is registry)


def _decorated(interp: Interpreter, is_one: Callable[[Event], bool]) -> dict[str, Value]:
    """The functions and classes at the top of the modules that a call decorates: ``@REGISTRY.register()``."""
    frames = (module.frame for module in interp.modules.values() if module.frame is not None)
    found = (value for frame in frames for value in frame.vars.values() if isinstance(value, (Class, Func)))
    given = ((value, one.event) for value in found for one in value.decorators if isinstance(one, Obj))
    return {_name(value, made): value for value, made in given if made is not None and is_one(made)}


def _name(value: Class | Func, made: Event) -> str:
    """The name that a decorator gives, ``@HEADS.register_module("fcn")``, or that of the class or function itself."""
    given = made.argument(_NAME)
    if isinstance(given, Const) and isinstance(given.value, str):
        return given.value
    return value.node.name if isinstance(value, Class) else value.name
