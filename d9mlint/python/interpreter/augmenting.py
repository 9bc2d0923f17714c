"""Augmented assignments, ``total += part``: sums and counts that grow in the turns of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.taint import FLOAT, taint
from d9mlint.python.domain.values import Const, Inst, Obj, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.interpreter import calls, expressions, scopes
from d9mlint.python.interpreter.library import operators
from d9mlint.python.interpreter.library.containers import sets
from d9mlint.python.interpreter.marks import discards
from d9mlint.python.interpreter.scopes import COMPLETION, OrderLoop, tell_together
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter


def as_augmented(node: f.Assign) -> f.Augment | None:
    """``total = total + part`` as ``total += part``; None for other assignments."""
    target, value = node.targets[0], node.value
    if len(node.targets) != 1 or not isinstance(target, f.Name) or not isinstance(value, f.Op) or value.op != "+":
        return None
    left, *rest = value.operands
    return f.Augment(target, value.op, rest[0], node.place) if left == target and len(rest) == 1 else None


def augment(interp: Interpreter, node: f.Augment, frame: Frame) -> None:
    """What ``target op= value`` does."""
    left = expressions.evaluate(interp, node.target, frame)
    known = Unknown() if isinstance(node.target, f.Sub) else left
    start = len(interp.story.events)
    right = expressions.evaluate(interp, node.value, frame)
    discards.added(interp, node, start, frame)
    if not interp.loops and node.op == "+" and _extends(left, right):
        calls.call(interp, Ref("builtins.list.extend", left), [right], {}, frame, node.place)
        return
    value = operators.apply(interp, node.op, [left, right], frame, augmented=True)
    if isinstance(left, Obj) and isinstance(right, Seq) and any(isinstance(one, Inst) for one in sets.held(right)):
        # Like `append`, it hands these objects over: `layers = ModuleList(); layers += [Layer()]`.
        calls.call(interp, Ref(f"{left.type}.__iadd__", left), [right], {}, frame, node.place)
    if isinstance(node.target, f.Attr):
        _note_array(interp, left, right, frame, node.place)
    loop = scopes.across(interp, node.target, frame)
    if loop is not None:
        lists = [leaf for _, leaf in alternatives(known) if isinstance(leaf, Seq)]
        if isinstance(value, Unknown) and {leaf.kind for leaf in lists} == {"list"}:
            value = Seq("list", None, Unknown(value.origins))  # something unknown is added to a list
        if _keeps_order(left, node.value):
            value = Unknown(taint([value])[0], *loop.taint)
        _grow(interp, value, lists, right, loop, frame, node.place)
    if isinstance(node.target, f.Sub) and _keeps_order(left, node.value):
        _note_sum(interp, right, frame, node.place)
    if interp.loops and isinstance(node.target, (f.Attr, f.Sub)):
        value = _in_any_turn(value)
    interp.assign(node.target, value, frame, node.place)


def _grow(
    interp: Interpreter, grown: Value, lists: Sequence[Seq], more: Value, loop: OrderLoop, frame: Frame, place: f.Place
) -> None:
    """Gives what ``lists`` become with ``more`` the order of a loop around, if they are older than its turns."""
    of_turn = any(leaf.born is loop for leaf in lists)  # a list for each item, filled in an order of its own
    for _, leaf in alternatives(grown):
        if not isinstance(leaf, Seq):
            continue
        if of_turn:
            leaf.born = loop
            continue
        if lists:
            tell_together(interp, lists[0], frame, place, [more])
        interp.heap.arrange(leaf, *loop.taint)


def _note_array(interp: Interpreter, left: Value, right: Value, frame: Frame, place: f.Place) -> None:
    """Tells of an array that an object keeps, and that is changed where it lies."""
    for cond, leaf in alternatives(left):
        if interp.hooks.is_array(leaf):
            interp.under(
                cond, partial(interp.event, "put", f"{leaf.type}.__iadd__", frame, place, (right,), receiver=leaf)
            )


def _note_sum(interp: Interpreter, part: Value, frame: Frame, place: f.Place) -> None:
    """Tells of a sum under a key, or at a place in a list, whose parts come as workers finish."""
    found = [loop.taint for loop in interp.order_loops[-1:]]
    taken = (e for e in taint([part])[2] if e.loops and e.loops == tuple(interp.loops))
    found += [(effect.order, (e,)) for e in taken for effect in e.effects if effect.order]
    for order, sources in found:
        if order == COMPLETION:
            interp.event("sink", "sum", frame, place, (Unknown(order=order, sources=sources),))
            return


def _extends(left: Value, right: Value) -> bool:
    """Whether a list of known items gets more of them, under the conditions that hold there."""
    lists = [one for one in (left, right) if isinstance(one, Seq) and one.items is not None and not one.order]
    return len(lists) == 2 and bool(lists[1].items) and lists[0].kind == "list"


def _keeps_order(total: Value, added: f.Expr) -> bool:
    """Whether a sum tells in which order its parts came: one of floats, by its roundings, and a text do."""
    floats = isinstance(added, f.Call) and added.func == f.Name("float")
    floats |= isinstance(added, f.Op) and added.op == "/"
    return floats or any(
        isinstance(leaf.value, (float, str)) if isinstance(leaf, Const) else FLOAT in taint([leaf])[0]
        for _, leaf in alternatives(total)
    )


def _in_any_turn(value: Value) -> Value:
    """What a counter is in whichever turn of a loop: a number, not that of the first."""
    leaves = [leaf for _, leaf in alternatives(value)]
    numbers = all(isinstance(leaf, Const) and type(leaf.value) in (int, float) for leaf in leaves)
    rounded = any(isinstance(leaf, Const) and type(leaf.value) is float for leaf in leaves)
    return Unknown(frozenset({"int", FLOAT} if rounded else {"int"})) if numbers else value


def forget_counts(interp: Interpreter, node: f.For | f.While, frame: Frame) -> None:
    """Before a loop whose turns are not told one by one: what each turn counts on is no longer what it was."""
    for name in sorted(interp.project.counted(node)):
        before = interp.load(name, frame)
        after = _in_any_turn(before)
        if after is not before:
            interp.store(name, after, frame)
