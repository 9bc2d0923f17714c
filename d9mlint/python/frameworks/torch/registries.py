"""Networks that a library makes by their names in settings: classes of the program that a registry was given."""

from __future__ import annotations

from collections.abc import Collection

from d9mlint.python.domain.values import Class, Obj, Value
from d9mlint.python.interpreter.interpreter import Interpreter


def registered(interp: Interpreter, decorators: Collection[str]) -> dict[str, Value]:
    """The classes at the top of the modules imported so far that one of these calls decorates, by their names."""
    frames = (module.frame for module in interp.modules.values() if module.frame is not None)
    found = (value for frame in frames for value in frame.vars.values() if isinstance(value, Class))
    return {cls.node.name: cls for cls in found if any(_made_by(one) in decorators for one in cls.decorators)}


def _made_by(decorator: Value) -> str:
    """The name of the call that gives a decorator: ``@REGISTRY.register()``."""
    return decorator.event.name if isinstance(decorator, Obj) and decorator.event is not None else ""
