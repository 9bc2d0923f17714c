"""How many there are, and counts up and down: ``len`` and ``range``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.numbers import Counted, Length, LengthInOrder
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Bound, Const, FlagValue, Func, Inst, Seq, Unknown, Value
from d9mlint.python.interpreter import attributes, calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment
from d9mlint.python.interpreter.library.arguments import argv
from d9mlint.python.interpreter.marks import bounded

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_SHORT = 4
"""Numbers of a count down that are taken one by one."""


def _length(interp: Interpreter, event: Event, frame: Frame) -> Value:
    value = environment.first(event)
    if isinstance(value, Seq) and value.items is not None and value.kind == "tuple":
        return Const(len(value.items))
    if isinstance(value, Const) and isinstance(value.value, str):
        return Const(len(value.value))
    if isinstance(value, FlagValue) or (isinstance(value, Seq) and value.items is not None and value.kind == "list"):
        return Length(value)
    if isinstance(value, Inst) and (told := _told(interp, value, event, frame)) is not None:
        return told
    _, order, sources = taint([value])
    if order:
        return LengthInOrder(order, sources, bounded.listings(sources))
    return argv.count(interp, value) or Unknown(frozenset({"length", "int"}), "", bounded.listings(sources))


def _told(interp: Interpreter, instance: Inst, event: Event, frame: Frame) -> Const | None:
    """The number that ``__len__`` of an object of the program always gives."""
    method = attributes.class_attribute(interp, instance.cls, "__len__")
    if not isinstance(method, Func):
        return None
    given = calls.call(interp, Bound(method, instance), [], {}, frame, environment.place_of(event))
    return given if isinstance(given, Const) and isinstance(given.value, int) else None


def _number(value: Value) -> Any:
    """A known number, or how many parts a text was split into; else None."""
    if (
        isinstance(value, Length)
        and isinstance(value.of, Seq)
        and all(isinstance(i, Const) for i in value.of.items or ())
    ):
        return len(value.of.items or ())
    return value.value if isinstance(value, Const) and isinstance(value.value, int) else None


def _range(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """Of a short count down each number: programs try so to split a dotted name into its module and the rest.

    A range that has none (``range(len([]))``) has no turns.
    """
    numbers = [_number(value) for value in event.args]
    if 0 < len(numbers) <= 3 and all(number is not None for number in numbers) and numbers[2:] != [0]:
        found = range(*numbers)
        if not found or (len(numbers) == 3 and numbers[2] < 0 and len(found) <= _SHORT):
            return Seq("range", [Const(number) for number in found])
    end = event.args[-1] if numbers in ([None], [0, None]) else None
    number = end.place if isinstance(end, LengthInOrder) else any_of(numbers)
    return Seq("range", None, number, "", bounded.listings(taint(event.args)[2]))


def any_of(numbers: list[Any]) -> Unknown:
    """Any number of a range, with the least that it can be."""
    down = len(numbers) == 3 and numbers[2] is not None and numbers[2] < 0
    start = 0 if len(numbers) == 1 else numbers[0] if numbers else None
    up = len(numbers) < 3 or (numbers[2] is not None and numbers[2] > 0)
    least = numbers[1] + 1 if down and numbers[1] is not None else start if up else None
    return Unknown(frozenset({"int"})) if least is None else Counted(least)


TRANSFER: dict[str, Transfer] = {"builtins.len": _length, "builtins.range": _range}
