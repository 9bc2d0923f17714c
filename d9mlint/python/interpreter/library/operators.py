"""Operators on objects of the program: ``noise + image`` calls ``Noise.__add__``, or ``__radd__`` of the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import Cond, either, negate
from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.values import Func, Inst, Value, alternatives
from d9mlint.python.interpreter import attributes, calls, expressions
from d9mlint.python.interpreter.library import generics
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_BINARY = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
_UNARY = {"neg": "neg", "pos": "pos", "~": "invert"}


def apply(interp: Interpreter, op: str, operands: list[Value], frame: Frame, augmented: bool = False) -> Value:
    """An arithmetic operator on values, some maybe objects of the program; ``augmented``: ``left += right``."""
    if op == "|" and len(operands) == 2 and (one := generics.union(operands)) is not None:
        return one
    options: list[tuple[Cond, Value]] = []
    for place, operand in enumerate(operands):
        for cond, leaf in alternatives(operand):
            method = _method(interp, op, leaf, place, len(operands), augmented) if isinstance(leaf, Inst) else None
            if method is not None:
                given = [leaf, *operands[:place], *operands[place + 1 :]]
                found = interp.under(cond, partial(calls.enter, interp, method, given, {}, frame, f.NOWHERE))
                options += [] if found is None else [(cond, found)]
        if options:
            break  # what the right operand has is asked for where the left one has nothing
    rest = negate(either(*(cond for cond, _ in options)))
    if rest is not False:
        options.append((rest, expressions.arithmetic(interp, op, operands)))
    return choose(options)


def _method(interp: Interpreter, op: str, leaf: Inst, place: int, count: int, augmented: bool) -> Func | None:
    """The method of an object that an operator calls, by the place that it has among the operands."""
    word = _UNARY.get(op) if count == 1 else _BINARY.get(op)
    forms = ("r",) if place else ("i", "") if augmented else ("",)
    found = (attributes.class_attribute(interp, leaf.cls, f"__{form}{word}__") for form in forms if word is not None)
    return next((method for method in found if isinstance(method, Func)), None)
