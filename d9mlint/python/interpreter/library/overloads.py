"""Functions with an implementation for each type of their first argument: ``@singledispatch``, ``@name.register``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import TYPE_TEST, Cond, either, negate, opaque_test
from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.values import Func, Ref, Value
from d9mlint.python.interpreter import calls, expressions
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_GENERIC = ("functools.singledispatch", "functools.singledispatchmethod")
_REGISTER = "register"
_OVERLOAD = "overload"
"""Begins the keys of notes: the implementations of such a function."""


def is_generic(func: Func) -> bool:
    """Whether a function has other implementations by the type of its argument."""
    return any(isinstance(one, Ref) and one.name in _GENERIC for one in func.decorators)


def register(interp: Interpreter, node: f.Def, func: Func, frame: Frame) -> None:
    """Remembers a function that is one of the implementations of another."""
    for decorator in node.decorators:
        named = decorator.func if isinstance(decorator, f.Call) else decorator
        if isinstance(named, f.Attr) and named.name == _REGISTER:
            generic = expressions.evaluate(interp, named.value, frame)
            if isinstance(generic, Func) and is_generic(generic):
                interp.note((_OVERLOAD, id(generic.node), id(node)), (generic.node, func))


def enter(
    interp: Interpreter, func: Func, args: list[Value], kwargs: dict[str, Value], frame: Frame, place: f.Place,
    star: bool,
) -> Value:  # fmt: skip
    """Runs a function of the program: of one with several implementations any, as the type of the argument has it."""
    if not func.decorators or not is_generic(func):
        return calls.enter(interp, func, args, kwargs, frame, place, star)
    options: list[tuple[Cond, Value]] = []
    for generic, one in interp.all_noted(_OVERLOAD):
        if generic is func.node:
            test = opaque_test((_OVERLOAD, frame.module.path, place, id(one.node)), TYPE_TEST)
            _add(options, interp.under(test, partial(calls.enter, interp, one, args, kwargs, frame, place, star)), test)
    rest = negate(either(*(cond for cond, _ in options)))
    _add(options, interp.under(rest, partial(calls.enter, interp, func, args, kwargs, frame, place, star)), rest)
    return choose(options)


def _add(options: list[tuple[Cond, Value]], found: Value | None, cond: Cond) -> None:
    if found is not None:
        options.append((cond, found))
