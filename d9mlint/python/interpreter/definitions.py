"""What ``def``, ``lambda`` and ``class`` define, with what their decorators make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.values import CALLABLE, Bound, Class, Func, Inst, Obj, Partial, Ref, Value
from d9mlint.python.interpreter import callbacks, calls, expressions
from d9mlint.python.interpreter.library import subclassing
from d9mlint.python.interpreter.library.arguments import bindings, commands, experiments
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_SETTER, _DELETER = "?.setter", "?.deleter"


def function(interp: Interpreter, node: f.Def, frame: Frame) -> Value:
    """The function of a definition, with its decorators applied."""
    decorators = tuple(expressions.evaluate(interp, d, frame) for d in node.decorators)
    func = Func(node, frame, _defaults(interp, node.params, frame), decorators)
    value: Value = func
    if decorators:
        commands.register(interp, func)
        experiments.register(interp, func, frame)
        bindings.register(interp, func)
    if (getter := _of_property(decorators)) is not None:
        if getter[1] == _SETTER:
            getter[0].setter = func
        return getter[0]
    for decorator in reversed(decorators):
        if isinstance(decorator, (Func, Bound)):
            wrapped = calls.call(interp, decorator, [value], {}, frame, node.place)
            value = wrapped if isinstance(wrapped, (*CALLABLE, Inst)) else value
        elif isinstance(decorator, Obj) and decorator.type == callbacks.CALLBACK:
            callbacks.run_later(interp, func, frame, node.place)
        elif isinstance(decorator, Obj) and decorator.type == callbacks.HANDLER:
            callbacks.keep_handler(interp, func, frame, node.place)
        elif _transforms(interp, decorator):
            calls.call(interp, decorator, [value], {}, frame, node.place)
    return value


def _of_property(decorators: tuple[Value, ...]) -> tuple[Func, str] | None:
    """The function that gives a property, and what another is to it: ``@x.setter``, ``@x.deleter``."""
    for one in decorators:
        if isinstance(one, Ref) and isinstance(one.receiver, Func) and one.name in (_SETTER, _DELETER):
            return one.receiver, one.name
    return None


def _transforms(interp: Interpreter, decorator: Value) -> bool:
    """Whether a decorator counts like a call of it, also where ``partial`` has given it arguments."""
    inner = decorator.func if isinstance(decorator, Partial) else decorator
    return isinstance(inner, Ref) and interp.knowledge.canonical(inner.name) in interp.hooks.transformations


def lambda_function(interp: Interpreter, node: f.Lambda, frame: Frame) -> Func:
    """The function of a lambda expression."""
    return Func(node, frame, _defaults(interp, node.params, frame))


def _defaults(interp: Interpreter, params: tuple[f.Param, ...], frame: Frame) -> dict[str, Value]:
    return {p.name: expressions.evaluate(interp, p.default, frame) for p in params if p.default is not None}


def decorated_class(interp: Interpreter, cls: Class, node: f.Class, frame: Frame) -> Value:
    """A class handed to its bases, and through its decorators: those that keep it in a table, or return another one."""
    subclassing.defined(interp, cls, frame)
    value: Value = cls
    cls.decorators = tuple(expressions.evaluate(interp, d, frame) for d in node.decorators)
    bindings.register(interp, cls)
    for decorator in reversed(cls.decorators):
        if isinstance(decorator, (Func, Bound)):
            made = calls.call(interp, decorator, [value], {}, frame, node.place)
            value = made if isinstance(made, Class) else value
        elif (name := calls.decorator_name(interp, decorator)) in interp.hooks.dataclasses:
            cls.bases = (*cls.bases, Ref(name))
    return value
