"""Networks that a library makes by their names in settings: what of the program a registry was given."""

from __future__ import annotations

from collections.abc import Callable, Collection

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Class, Func, Obj, Value
from d9mlint.python.interpreter.interpreter import Interpreter


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
    return {
        value.node.name if isinstance(value, Class) else value.name: value
        for value in found
        if any(isinstance(one, Obj) and one.event is not None and is_one(one.event) for one in value.decorators)
    }
