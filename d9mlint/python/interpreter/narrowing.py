"""What a test of a length says about a set or a listing: one item or none comes out in one order only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from d9mlint.python.domain.values import UNKNOWN, Seq, Value, alternatives
from d9mlint.python.interpreter import expressions
from d9mlint.python.source import facts as f
from d9mlint.python.source import queries

if TYPE_CHECKING:
    from d9mlint.python.domain.events import Frame
    from d9mlint.python.interpreter.interpreter import Interpreter

_HOLDS = {("==", 0), ("==", 1), ("<=", 1), ("<", 2)}
"""Tests that leave one item at most where they hold."""
_FAILS = {("!=", 1), ("!=", 0), (">", 1), (">=", 2)}
"""Tests that leave one item at most where they fail."""


def single(interp: Interpreter, test: f.Expr, frame: Frame) -> tuple[list[Seq], bool]:
    """The sets, or lists in no promised order, that ``len(x) > 1`` and the like speak of.

    And whether it has one item at most where the test holds, as all parts of an ``and`` do then. A name stands for the
    one test that its function gives it: ``alone = len(x) == 1``.
    """
    if isinstance(test, f.Name) and frame.func is not None and any(map(_is_told_apart, frame.vars.values())):
        test = _given(frame.func.node, test) or test
    if isinstance(test, f.Op) and test.op == "and":
        parts = (single(interp, part, frame) for part in test.operands)
        return [one for found, holds in parts if holds for one in found], True
    if not isinstance(test, f.Compare) or not isinstance(test.right, f.Const):
        return [], False
    key = (test.op, test.right.value)
    if key not in _HOLDS and key not in _FAILS:
        return [], False
    call = test.left
    if not isinstance(call, f.Call) or call.func != f.Name("len") or len(call.args) != 1:
        return [], False
    counted = call.args[0].value
    value = expressions.evaluate(interp, counted, frame) if isinstance(counted, (f.Name, f.Attr)) else None
    leaves = [leaf for _, leaf in alternatives(value)] if value is not None else []
    return [leaf for leaf in leaves if isinstance(leaf, Seq) and _is_told_apart(leaf)], key in _HOLDS


def _is_told_apart(value: Value) -> bool:
    """Whether it is a set, or a list in no promised order."""
    return isinstance(value, Seq) and (value.kind == "set" or bool(value.order))


def _given(node: f.Def | f.Lambda, name: f.Name) -> f.Compare | None:
    """The comparison that a function sets a name to, and nothing else."""
    if isinstance(node, f.Lambda):
        return None
    sets = [one for one in queries.statements(node.body) if isinstance(one, f.Assign) and name in one.targets]
    value = sets[0].value if len(sets) == 1 else None
    return value if isinstance(value, f.Compare) else None


def narrow(interp: Interpreter, found: Iterable[Seq]) -> None:
    """From here on there is one item."""
    for one in found:
        interp.heap.fill(one, [one.element or (one.items[0] if one.items else UNKNOWN)], one.element)
        interp.heap.arrange(one, "", one.sources)


@contextmanager
def narrowed(interp: Interpreter, found: Sequence[Seq]) -> Iterator[None]:
    """Inside, there is one item."""
    before = [(one.items, one.order) for one in found]
    narrow(interp, found)
    try:
        yield
    finally:
        for one, (items, order) in zip(found, before, strict=True):
            interp.heap.fill(one, items, one.element)
            interp.heap.arrange(one, order, one.sources)
