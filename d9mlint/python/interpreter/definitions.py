"""What ``def``, ``lambda`` and ``class`` define, with what their decorators make of it."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.values import CALLABLE, Bound, Class, Func, Inst, Obj, Partial, Phi, Ref, Value, alternatives
from d9mlint.python.interpreter import attributes, callbacks, calls, expressions
from d9mlint.python.interpreter.library import generics, overloads, subclassing
from d9mlint.python.interpreter.library.arguments import bindings, commands, experiments
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_SETTER = "?.setter"
_ACCESSORS = (_SETTER, "?.deleter")
_MAX_CHOICES = 16
"""Of the bases of one class: four tables of four are not told apart any more, two are."""


def function(interp: Interpreter, node: f.Def, frame: Frame) -> Value:
    """The function of a definition, with its decorators applied."""
    decorators = tuple(expressions.evaluate(interp, d, frame) for d in node.decorators)
    func = Func(node, frame, _defaults(interp, node.params, frame), decorators)
    value: Value = func
    if decorators and (own := _accessor(decorators[0], func)) is not None:
        return own
    if decorators:
        commands.register(interp, func)
        experiments.register(interp, func, frame)
        bindings.register(interp, func)
        overloads.register(interp, node, func, frame)
    for decorator in reversed(decorators):
        if _is_own(interp, decorator):
            wrapped = calls.call(interp, decorator, [value], {}, frame, node.place)
            bound = isinstance(wrapped, CALLABLE) or (isinstance(wrapped, Inst) and not frame.body_of_class)
            value = wrapped if bound else value
        elif isinstance(decorator, Obj) and decorator.type == callbacks.CALLBACK:
            callbacks.run_later(interp, func, frame, node.place)
        elif isinstance(decorator, Obj) and decorator.type == callbacks.HANDLER:
            callbacks.keep_handler(interp, func, frame, node.place)
        elif _transforms(interp, decorator):
            calls.call(interp, decorator, [value], {}, frame, node.place)
    return value


def _accessor(decorator: Value, func: Func) -> Func | None:
    """The property that ``@name.setter`` makes of that under the same name; so does ``@name.deleter``.

    One that is read runs what it did before, one that is assigned to the function that is defined here.
    """
    known = decorator.receiver if isinstance(decorator, Ref) and decorator.name in _ACCESSORS else None
    if not isinstance(known, Func):
        return None
    made = Func(known.node, known.closure, known.defaults, known.decorators, known.owner)
    made.setter = func if isinstance(decorator, Ref) and decorator.name == _SETTER else known.setter
    return made


def _is_own(interp: Interpreter, decorator: Value) -> bool:
    """Whether a decorator is a function of the program, or an object or a class of it whose objects are called."""
    if isinstance(decorator, Partial):
        return isinstance(decorator.func, (Func, Bound))
    cls = decorator.cls if isinstance(decorator, Inst) else decorator
    if isinstance(cls, Class):
        return isinstance(attributes.class_attribute(interp, cls, "__call__"), Func)
    return isinstance(decorator, (Func, Bound))


def _transforms(interp: Interpreter, decorator: Value) -> bool:
    """Whether a decorator counts like a call of it, also where ``partial`` has given it arguments."""
    inner = decorator.func if isinstance(decorator, Partial) else decorator
    return isinstance(inner, Ref) and interp.knowledge.canonical(inner.name) in interp.hooks.transformations


def lambda_function(interp: Interpreter, node: f.Lambda, frame: Frame) -> Func:
    """The function of a lambda expression."""
    return Func(node, frame, _defaults(interp, node.params, frame))


def _defaults(interp: Interpreter, params: tuple[f.Param, ...], frame: Frame) -> dict[str, Value]:
    return {p.name: expressions.evaluate(interp, p.default, frame) for p in params if p.default is not None}


def classes(interp: Interpreter, node: f.Class, frame: Frame) -> None:
    """What ``class`` defines: one, or one for each choice of its bases (``class Data(HOMES[home], SAMPLES[task])``)."""
    bases = tuple(_canonical(interp, _base(interp, base, frame)) for base in node.bases)
    _of_each(interp, node, bases, frame)


def _of_each(interp: Interpreter, node: f.Class, bases: tuple[Value, ...], frame: Frame) -> None:
    """Defines a class under the conditions of each choice of its bases; under none where there are too many."""
    several = next((number for number, base in enumerate(bases) if isinstance(base, Phi)), None)
    if several is None or prod(len(alternatives(base)) for base in bases) > _MAX_CHOICES:
        _define(interp, node, bases, frame)
        return
    for cond, leaf in alternatives(bases[several]):
        chosen = (*bases[:several], _canonical(interp, leaf), *bases[several + 1 :])
        interp.under(cond, partial(_of_each, interp, node, chosen, frame))


def _define(interp: Interpreter, node: f.Class, bases: tuple[Value, ...], frame: Frame) -> None:
    inner = Frame(frame.module, frame, interp.path, frame.func)
    inner.body_of_class = True
    cls = Class(node, bases, inner)
    interp.block(node.body, inner)
    _methods(cls)
    interp.store(node.name, _decorated(interp, cls, node, frame), frame)


def _base(interp: Interpreter, node: f.Expr, frame: Frame) -> Value:
    """A base of a class; that with parameters of types is the class itself: ``Wrapper[Array, int]``.

    Of a class taken from one of two packages (``layers = new.layers if is_new else old.layers``) it is the first.
    """
    if isinstance(node, f.Sub):
        generic = expressions.evaluate(interp, node.value, frame)
        if isinstance(generic, Class) or (isinstance(generic, Ref) and generics.is_generic(generic)):
            return generic
    found = expressions.evaluate(interp, node, frame)
    leaves = [leaf for _, leaf in alternatives(found)]
    names = {leaf.name.rpartition(".")[2] if isinstance(leaf, Ref) else "" for leaf in leaves}
    return leaves[0] if len(names) == 1 and "" not in names else found


def _canonical(interp: Interpreter, base: Value) -> Value:
    return Ref(interp.knowledge.canonical(base.name), base.receiver) if type(base) is Ref else base


def _methods(cls: Class) -> None:
    """Says of the functions in the body of a class that they are its methods, and which run on an assignment."""
    for base in reversed(cls.line()[1:]):
        cls.setters.update(base.setters)
    for name, value in cls.frame.vars.items():
        cls.setters.pop(name, None)
        if not isinstance(value, Func):
            continue
        for func in (value, value.setter):
            if func is not None and func.owner is None and func.closure is cls.frame:
                func.owner = cls
        if value.setter is not None:
            cls.setters[name] = value.setter


def _decorated(interp: Interpreter, cls: Class, node: f.Class, frame: Frame) -> Value:
    """A class handed to its bases, and through its decorators: those that keep it in a table, or return another one."""
    subclassing.defined(interp, cls, frame)
    value: Value = cls
    cls.decorators = tuple(expressions.evaluate(interp, d, frame) for d in node.decorators)
    bindings.register(interp, cls)
    for decorator in reversed(cls.decorators):
        if _is_own(interp, decorator):
            made = calls.call(interp, decorator, [value], {}, frame, node.place)
            value = made if isinstance(made, Class) else value
        elif (name := calls.decorator_name(interp, decorator)) in interp.hooks.dataclasses:
            cls.bases = (*cls.bases, Ref(name))
    return value
