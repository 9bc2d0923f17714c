"""Numbers of turns that a program counts by hand in a loop in no promised order: ``rows[i] = read(name); i += 1``.

Such a number tells which item came first, and so has the order of the loop in it until the loop ends: how many turns
there were does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeGuard

from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.numbers import Place
from d9mlint.python.domain.taint import is_number, taint
from d9mlint.python.domain.values import Const, Seq, Unknown, Value, alternatives
from d9mlint.python.interpreter import expressions
from d9mlint.python.interpreter.library.environment import MAX_SOURCES
from d9mlint.python.source import facts as f
from d9mlint.python.source import queries

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_COUNTER = frozenset({"int"})


def through(interp: Interpreter, node: f.For, iterable: Value, frame: Frame) -> Value:
    """What a loop goes through: places of something in no promised order, if it picks that by them, have the same.

    ``for i in range(len(names)): rows.append(read(names[i]))``
    """
    number = iterable.element if isinstance(iterable, Seq) and iterable.kind == "range" else None
    if not isinstance(number, Place) or not isinstance(node.target, f.Name):
        return iterable
    of = {*map(id, number.in_order.sources)}
    picked = (one.value for one in queries.inside(node.body, f.Sub) if one.key == node.target)
    held = (expressions.evaluate(interp, one, frame) for one in picked if isinstance(one, (f.Name, f.Attr)))
    if all(of.isdisjoint(map(id, taint([one])[2])) for one in held):
        return iterable
    return Seq("range", None, number.in_order, number.in_order.order, number.in_order.sources)


def number(interp: Interpreter, node: f.For, frame: Frame) -> Callable[[], None]:
    """Gives what the turns of the innermost loop count on its order; what is returned takes it away again."""
    order, sources = interp.order_loops[-1].taint
    before = {name: interp.load(name, frame) for name in sorted(interp.project.counted(node))}
    counters = {name: value for name, value in before.items() if _is_counter(value)}
    for name in counters:
        interp.store(name, Unknown(_COUNTER, order, sources), frame)

    def end() -> None:
        for name, value in counters.items():
            found = [(cond, _counted(leaf, value, sources)) for cond, leaf in alternatives(interp.load(name, frame))]
            interp.store(name, choose(found), frame)

    return end


def _is_counter(value: Value) -> TypeGuard[Unknown]:
    return type(value) is Unknown and value.origins == _COUNTER


def _counted(leaf: Value, before: Unknown, sources: tuple[Event, ...]) -> Value:
    """What a counter is after its loop: it has the order of a loop around that, at most."""
    if not isinstance(leaf, Unknown):
        return leaf
    left = [one for one in leaf.sources if one not in sources or one in before.sources]
    return Unknown(leaf.origins, before.order, tuple(left))


def counts(index: Value, value: Value) -> bool:
    """Whether an item gets the number of items before it: ``index[word] = len(index)``, ``index[word] = count``."""
    if any(isinstance(leaf, Unknown) and leaf.order and is_number(leaf) for _, leaf in alternatives(value)):
        return not isinstance(index, Const)
    return isinstance(value, Unknown) and "length" in value.origins and is_number(value)


def fill(interp: Interpreter, holder: Value, index: Value, value: Value) -> None:
    """What is filled at places that such numbers give has their order: an array, a list; not with one constant."""
    _, order, sources = taint([index])
    if not order or isinstance(value, Const):
        return
    for _, leaf in alternatives(holder):
        if isinstance(leaf, Seq) or interp.hooks.is_array(leaf):
            more = [one for one in sources if one not in leaf.sources]
            interp.heap.arrange(leaf, leaf.order or order, (*leaf.sources, *more)[-MAX_SOURCES:])
