"""Comprehensions: what they make, item by item where the items are known."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from d9mlint.python.domain.choices import MAX_THINGS, choose, present
from d9mlint.python.domain.conditions import Cond, both, negate
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import (
    ABSENT,
    UNKNOWN,
    Class,
    Const,
    Dict,
    Func,
    Inst,
    Obj,
    Seq,
    Unknown,
    Value,
    alternatives,
    born,
)
from d9mlint.python.interpreter import comparisons, expressions
from d9mlint.python.interpreter.library.containers import sequences
from d9mlint.python.interpreter.scopes import tell_together
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter


def evaluate(interp: Interpreter, node: f.Comp, frame: Frame) -> Value:
    """What a comprehension makes."""
    interp.loops_seen += 1
    interp.loops.append(interp.loops_seen)
    made = _comprehended(interp, node, frame)
    interp.loops.pop()
    return made


def _comprehended(interp: Interpreter, node: f.Comp, frame: Frame) -> Value:
    inner = Frame(frame.module, frame, interp.path, frame.func)
    inner.globals = frame.globals
    order = ""
    sources: tuple[Event, ...] = ()
    orders: list[Value] = []
    known: list[Value] | None = None
    for clause in node.clauses:
        iterable = expressions.evaluate(interp, clause.iterable, inner)
        origins, its_order, its_sources = sequences.iteration_order(interp, iterable, frame, node.place)
        if its_order:
            order, sources = its_order, its_sources
            orders.append(Unknown(order=its_order, sources=its_sources))
        if node.kind == "dict" and len(node.clauses) == 1 and not its_order:
            pairs = [(cond, sequences.keyed(interp, leaf)) for cond, leaf in sequences.apart(iterable)]
            known_pairs = [(cond, item) for cond, items in pairs for item in items or ()]
            if all(items is not None for _, items in pairs):
                return _dict_comp(interp, node, known_pairs, inner)
        items = sequences.loop_items(interp, iterable, Unknown(origins, "", its_sources))
        if len(node.clauses) == 1 and not clause.conditions and len(items) > 1 and node.kind != "dict":
            known = [_element(interp, node, clause, item, inner) for item in items]
            if node.kind == "set":
                return Seq("set", known)
            return Seq("list", known, None, order, sources)
        if len(node.clauses) == 1 and clause.conditions and 1 < len(items) <= MAX_THINGS and _are_things(items):
            return Seq("list", None, _one_of(interp, node, items, inner))
        if items:
            interp.assign(clause.target, items[0], inner, node.place)
        for condition_ in clause.conditions:
            expressions.evaluate(interp, condition_, inner)
    element = expressions.evaluate(interp, node.element, inner)
    if node.kind == "dict":
        value = expressions.evaluate(interp, node.value, inner) if node.value is not None else UNKNOWN
        numbered = taint([element, value])
        if numbered[1] and not _own_lists(element, value, interp.loops[-1]):  # what a key stands for depends on it, too
            return Unknown(numbered[0], order or numbered[1], (*sources, *numbered[2]))
        return Dict({}, True, order, sources, value if isinstance(value, (Seq, Dict, Inst, Obj)) else None)
    if node.kind == "set":
        return Seq("set", None, element)  # whatever order it was filled in
    if len(orders) > 1:
        tell_together(interp, born(), frame, node.place, orders)
    return Seq("list", None, element, order, sources)


def _are_things(items: list[Value]) -> bool:
    return all(isinstance(one, (Func, Class)) for one in items)


def _one_of(interp: Interpreter, node: f.Comp, things: list[Value], inner: Frame) -> Value:
    """What stands for each of the functions or classes that a comprehension keeps, under the condition that it does."""
    clause = node.clauses[0]
    found: list[tuple[Cond, Value]] = []
    for item in things:
        interp.assign(clause.target, item, inner, node.place)
        cond = _kept(interp, clause, inner)
        made = interp.under(cond, partial(expressions.evaluate, interp, node.element, inner))
        if made is not None:
            found.append((cond, made))
    return choose(found) if found else UNKNOWN


def _kept(interp: Interpreter, clause: f.Clause, inner: Frame) -> Cond:
    """The condition under which a comprehension keeps the item that its names stand for."""
    tests = (
        comparisons.condition(interp, expressions.evaluate(interp, one, inner), expressions.worded(one))
        for one in clause.conditions
    )
    return both(*tests)


def _own_lists(key: Value, value: Value, loop: int) -> bool:
    """Whether under each key stands a list that is made in its turn of the loop: in an order of its own, and no other.

    ``{folder.name: list(folder.iterdir()) for folder in root.iterdir()}``.
    """
    if taint([key])[1] or not isinstance(value, Seq) or not value.order or value.items is not None:
        return False
    inside = taint([value.element])[1] if value.element is not None else ""
    return not inside and any(loop in one.loops for one in value.sources)


def _element(interp: Interpreter, node: f.Comp, clause: f.Clause, item: Value, inner: Frame) -> Value:
    """What a comprehension makes of one item; nothing where that is not there."""
    there = present(item)
    if there is True:
        interp.assign(clause.target, item, inner, node.place)
        return expressions.evaluate(interp, node.element, inner)
    found = choose([one for one in alternatives(item) if one[1] is not ABSENT])
    interp.assign(clause.target, found, inner, node.place)
    made = interp.under(there, partial(expressions.evaluate, interp, node.element, inner))
    return ABSENT if made is None else choose([(there, made), (negate(there), ABSENT)])


def _dict_comp(interp: Interpreter, node: f.Comp, items: list[tuple[Cond, Value]], inner: Frame) -> Dict:
    """The dict that a comprehension makes of known items, as of the settings that begin with a word."""
    out = Dict({})
    clause = node.clauses[0]
    for its_cond, item in items:
        interp.assign(clause.target, item, inner, node.place)
        cond = both(its_cond, _kept(interp, clause, inner))
        if cond is False:
            continue
        key = expressions.evaluate(interp, node.element, inner)
        value = expressions.evaluate(interp, node.value, inner) if node.value is not None else UNKNOWN
        if isinstance(key, Const) and isinstance(key.value, (str, int)):
            interp.heap.put(out, key.value, cond, value)
        elif not out.open:
            interp.heap.open(out)
    return out
