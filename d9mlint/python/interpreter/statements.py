"""What each kind of statement does to the story."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from d9mlint.python.domain.choices import choose, present
from d9mlint.python.domain.conditions import EXCEPTION, Cond, both, either, negate, opaque, opaque_test
from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.values import (
    ABSENT,
    CondValue,
    Const,
    Ref,
    Unknown,
    Value,
    alternatives,
    born,
)
from d9mlint.python.interpreter import (
    augmenting,
    calls,
    comparisons,
    definitions,
    expressions,
    linking,
    managers,
    narrowing,
    scopes,
)
from d9mlint.python.interpreter.library import environment
from d9mlint.python.interpreter.library.containers import sequences
from d9mlint.python.interpreter.marks import (
    bounded,
    colours,
    discards,
    later_turns,
    overwritten,
    refilled,
    timed,
    turns,
    walked,
)
from d9mlint.python.interpreter.scopes import OrderLoop
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

Left = tuple[Cond, Cond, Cond]
"""Conditions under which control left a block: by return, by break or continue, by an error or the program's end."""
STAYS: Left = (False, False, False)
STOPS: Left = (False, False, True)


def _evaluate(interp: Interpreter, node: f.Evaluate, frame: Frame) -> Left:
    start = len(interp.story.events)
    value = expressions.evaluate(interp, node.value, frame)
    discards.unused(interp, node)
    if isinstance(node.value, f.Call):
        discards.note(interp, node.value, value, start, frame)
    elif isinstance(node.value, f.Sub):
        discards.unshown(interp, start)
    if isinstance(node.value, f.Attr) and isinstance(value, Ref) and not value.name.startswith("?"):
        interp.event("mention", value.name, frame, node.value.place, receiver=value.receiver)
    return STOPS if value is calls.EXITS else STAYS


def _assign(interp: Interpreter, node: f.Assign, frame: Frame) -> Left:
    if node.value is None:
        return STAYS
    if interp.order_loops and (grown := augmenting.as_augmented(node)) is not None:
        return _augment(interp, grown, frame)
    start = len(interp.story.events)
    value = expressions.evaluate(interp, node.value, frame)
    discards.assigned(interp, node.targets, node.value, value, start, frame)
    overwritten.assigned(interp, node, value, start, frame)
    colours.assigned(interp, node.targets, start)
    for target in node.targets:
        if interp.order_loops:
            scopes.begin(interp, target, frame)
        interp.assign(target, value, frame, node.place)
    return STAYS


def _augment(interp: Interpreter, node: f.Augment, frame: Frame) -> Left:
    augmenting.augment(interp, node, frame)
    return STAYS


def _return(interp: Interpreter, node: f.Return, frame: Frame) -> Left:
    value = Const(None) if node.value is None else expressions.evaluate(interp, node.value, frame)
    if interp.stopped is True and interp.trials:
        return STAYS  # it raises what a handler goes on after
    overwritten.returned(interp, node, frame)
    raised = interp.stopped if interp.trials else False  # elsewhere what raises ends the program
    frame.results.append((both(interp.since(frame.born), negate(raised)), value))
    return (True, False, False)


def _raise(interp: Interpreter, node: f.Raise, frame: Frame) -> Left:
    start = len(interp.story.events)
    for part in node.parts:
        expressions.evaluate(interp, part, frame)
    discards.raised(interp, start)
    return STOPS


def _assert(interp: Interpreter, node: f.Assert, frame: Frame) -> Left:
    value = expressions.evaluate(interp, node.test, frame)
    counted, holds = narrowing.single(interp, node.test, frame)
    if holds:
        narrowing.narrow(interp, counted)
    cond = comparisons.condition(interp, value, "assert")
    if isinstance(cond, bool) or opaque(cond) is not None or interp.path.truth(cond) is True:
        return STAYS
    return (False, False, negate(cond))


def _jump(interp: Interpreter, node: f.Jump, frame: Frame) -> Left:
    frame.jump = node
    return (False, True, False)


def _if(interp: Interpreter, node: f.If, frame: Frame) -> Left:
    interp.clock = None
    text = comparisons.told(interp, node.test, node.text, frame)
    cond = comparisons.condition(interp, expressions.evaluate(interp, node.test, frame), text)
    clock = interp.clock if interp.loops else None
    for hook in interp.hooks.branch:
        hook(interp, node, frame)
    counted, holds = narrowing.single(interp, node.test, frame)

    def run(body: Sequence[f.Stmt], few: bool) -> Left:
        guarded = body is node.body and _is_main_guard(node.test)
        interp.main_guards += guarded
        outer = interp.by_clock
        if clock is not None and body is node.body:
            leaves = Const(frame.loops > 0 and _leaves(body))
            interp.event("timed", clock.raw, frame, node.place, (CondValue(cond), leaves))
            interp.by_clock = True
        with narrowing.narrowed(interp, counted if few else ()):
            left = interp.block(body, frame)
        interp.main_guards -= guarded
        interp.by_clock = outer
        return left

    left = interp.branch(cond, lambda: run(node.body, holds), lambda: run(node.orelse, not holds))
    last = node.body[-1:]
    if counted and not holds and last and isinstance(last[0], (f.Raise, f.Return, f.Jump)):
        narrowing.narrow(interp, counted)
    return left


def _leaves(body: Sequence[f.Stmt]) -> bool:
    """Whether a body ends with leaving the loop around it."""
    last = body[-1] if body else None
    return isinstance(last, f.Return) or (isinstance(last, f.Jump) and last.kind == "break")


def _is_main_guard(test: f.Expr) -> bool:
    """Whether a test is ``__name__ == "__main__"``."""
    return isinstance(test, f.Compare) and isinstance(test.left, f.Name) and test.left.id == "__name__"


def _for(interp: Interpreter, node: f.For, frame: Frame) -> Left:
    start = len(interp.story.events)
    iterable = turns.through(interp, node, expressions.evaluate(interp, node.iterable, frame), frame)
    if isinstance(node.target, f.Items):
        discards.uncounted(interp, node.target.items[:1], start, frame)
    origins, order, sources = sequences.iteration_order(interp, iterable, frame, node.place)
    settings = _copies(node.body)
    limit = sequences.MAX_SETTINGS if settings else sequences.MAX_LOOP_ITEMS
    every = [
        (cond, sequences.loop_items(interp, leaf, Unknown(origins, "", sources), limit))
        for cond, leaf in sequences.apart(iterable, settings)
    ]
    if order:
        item = next((items[0] for _, items in every if items), None)
        interp.order_loops.append(OrderLoop(order, sources, len(interp.loops), born(), item, set()))
    given = sequences.filled(_wrapped(interp, node.iterable, iterable, frame))
    for cond, items in every:
        interp.under(both(given, cond), partial(_turns, interp, node, items, frame, iterable, bool(order)))
    if order:
        interp.order_loops.pop()
    refilled.by_loop(interp, node, frame)
    interp.block(node.orelse, frame)
    # A return inside a loop may or may not happen: what follows is not conditional on it in any useful way.
    return STAYS


def _wrapped(interp: Interpreter, node: f.Expr, iterable: Value, frame: Frame) -> Value:
    """What a loop goes through, or what that goes through in turn: of ``enumerate(args.names)`` the names."""
    wraps = isinstance(node, f.Call) and isinstance(node.func, f.Name) and node.func.id in _WRAPS and node.args
    inner = node.args[0].value if isinstance(node, f.Call) and wraps else None
    return expressions.evaluate(interp, inner, frame) if isinstance(inner, (f.Name, f.Attr)) else iterable


def _turns(
    interp: Interpreter, node: f.For, items: Sequence[Value], frame: Frame, iterable: Value, unordered: bool
) -> None:
    """The turns of a loop, which may come in no promised order."""
    returned: Cond = False
    end = interp.enter_loop(frame, node.place, items)
    bounded.by_range(interp, iterable, frame, node.place)
    if unordered:
        interp.event("turns", "", frame, node.place, (Unknown(frozenset(), *interp.order_loops[-1].taint),))
    if len(items) == 1:
        augmenting.forget_counts(interp, node, frame)
    counted = turns.number(interp, node, frame) if unordered else None
    for item in items:
        there = present(item)  # one that was added under a condition has a turn under that alone
        found = item if there is True else choose([x for x in alternatives(item) if x[1] is not ABSENT])
        turn: Left | None = interp.under(there, partial(_turn, interp, node, found, frame, len(items) == 1))
        left, _, stopped = turn or STAYS
        returned = either(returned, both(there, either(left, stopped)))
        if returned is True:
            break
    if counted is not None:
        counted()
    end()


def _turn(interp: Interpreter, node: f.For, item: Value, frame: Frame, alone: bool) -> Left:
    interp.assign(node.target, item, frame, node.place)
    return later_turns.run(interp, node.body, frame) if alone else interp.block(node.body, frame)


def _while(interp: Interpreter, node: f.While, frame: Frame) -> Left:
    events = interp.story.events
    start = len(events)
    value = expressions.evaluate(interp, node.test, frame)
    if isinstance(value, Const) and not value.value:
        return STAYS
    clock = timed.clock_in(events[start:])
    tested, start = events[start:], len(events)
    end = interp.enter_loop(frame, f.NOWHERE)
    bounded.by_test(interp, tested, frame)
    augmenting.forget_counts(interp, node, frame)
    walked.run(interp, node, frame)
    clock = timed.asked(interp, node, clock, start, frame)
    end()
    if clock is not None:
        interp.event("timed", clock.raw, frame, environment.place_of(clock))
    interp.block(node.orelse, frame)
    return STAYS


def _try(interp: Interpreter, node: f.Try, frame: Frame) -> Left:
    path = interp.path
    goes_on = any(not _ends(handler) for handler in node.handlers)
    interp.trials += goes_on
    left = interp.block(node.body, frame)
    interp.trials -= goes_on
    for handler in node.handlers:
        failed: Cond = opaque_test(("except", frame.module.path, id(handler)), EXCEPTION)
        if len(node.handlers) == 1 and left[2] is not False:  # what is known to raise leads there
            failed = left[2] if len(node.body) == 1 else either(failed, left[2])
        interp.under(failed, partial(interp.block, handler, frame))
    if True not in left:
        interp.block(node.orelse, frame)
    interp.block(node.final, frame)
    interp.path = path
    return left if not node.handlers else STAYS


def _match(interp: Interpreter, node: f.Match, frame: Frame) -> Left:
    subject = expressions.evaluate(interp, node.subject, frame)

    def run(index: int) -> Left:
        if index == len(node.cases):
            return STAYS
        pattern, body, text = node.cases[index]
        if pattern is None:
            cond: Cond = True if text.strip() == "_" else opaque_test(("case", frame.module.path, id(body)), text)
        else:
            test = comparisons.compare(interp, "==", subject, expressions.evaluate(interp, pattern, frame), text)
            cond = comparisons.condition(interp, test, text)
        return interp.branch(cond, lambda: interp.block(body, frame), lambda: run(index + 1))

    return run(0)


def _def(interp: Interpreter, node: f.Def, frame: Frame) -> Left:
    interp.store(node.name, definitions.function(interp, node, frame), frame)
    return STAYS


def _class(interp: Interpreter, node: f.Class, frame: Frame) -> Left:
    definitions.classes(interp, node, frame)
    return STAYS


def _import(interp: Interpreter, node: f.Import, frame: Frame) -> Left:
    for dotted, alias in node.names:
        value = linking.import_module(interp, dotted, 0, frame, node.place)
        if linking.fails(interp, value):
            return STOPS
        if alias is not None:
            interp.store(alias, value, frame)
        else:
            first = dotted.partition(".")[0]
            top = value if first == dotted else linking.import_module(interp, first, 0, frame, node.place, quiet=True)
            interp.store(first, top, frame)
    return STAYS


def _import_from(interp: Interpreter, node: f.ImportFrom, frame: Frame) -> Left:
    return STOPS if linking.import_from(interp, node, frame) else STAYS


def _scope(interp: Interpreter, node: f.Scope, frame: Frame) -> Left:
    home = frame.module.frame or frame
    for name in node.names:
        current = frame.parent if node.kind == "nonlocal" else home
        while node.kind == "nonlocal" and current is not None and name not in current.vars:
            current = current.parent
        frame.globals[name] = current or home
    return STAYS


def _copies(body: Sequence[f.Stmt]) -> bool:
    """Whether a loop body only keeps things under names: ``setattr(x, key, value)`` or ``x[key] = value``."""
    return any(map(_keeps, body)) and all(_keeps(one) or _chooses(one) for one in body)


def _keeps(node: f.Stmt) -> bool:
    if isinstance(node, f.If):
        return _is_plain(node.test) and all(_copies(part) for part in (node.body, node.orelse) if part)
    if isinstance(node, f.Assign):
        return isinstance(node.targets[0], f.Sub) and isinstance(node.value, f.Name)
    called = node.value.func if isinstance(node, f.Evaluate) and isinstance(node.value, f.Call) else None
    return isinstance(called, f.Name) and called.id == "setattr"


def _chooses(node: f.Stmt) -> bool:
    """Whether a statement only says under which name, or that nothing is kept: ``name = "_" + key``."""
    if isinstance(node, f.If):
        return _is_plain(node.test) and all(map(_chooses, (*node.body, *node.orelse)))
    if isinstance(node, f.Assign):
        return isinstance(node.targets[0], f.Name) and node.value is not None and _is_plain(node.value)
    return isinstance(node, f.Jump)


def _is_plain(node: f.Expr) -> bool:
    """Whether an expression does nothing but look: names, texts, comparisons, ``hasattr(x, key)``."""
    if isinstance(node, (f.Const, f.Name)):
        return True
    if isinstance(node, f.Attr):
        return _is_plain(node.value)
    if isinstance(node, f.Sub):
        return _is_plain(node.value) and _is_plain(node.key)
    if isinstance(node, f.Compare):
        return _is_plain(node.left) and _is_plain(node.right)
    if isinstance(node, (f.Op, f.Format, f.Items)):
        parts = node.operands if isinstance(node, f.Op) else node.parts if isinstance(node, f.Format) else node.items
        return all(map(_is_plain, parts))
    if not isinstance(node, f.Call):
        return False
    looks = isinstance(node.func, f.Name) and node.func.id == "hasattr"
    of_text = isinstance(node.func, f.Attr) and node.func.name in _LOOKS and _is_plain(node.func.value)
    return (looks or of_text) and all(_is_plain(arg.value) for arg in node.args)


def _ends(handler: Sequence[f.Stmt]) -> bool:
    """Whether a handler hands the error on."""
    return bool(handler) and isinstance(handler[-1], f.Raise)


def may_give_up(statement: f.Try) -> bool:
    """Whether a ``try`` keeps what comes after it from happening, by a handler that returns or goes on with a loop."""
    return any(handler and isinstance(handler[-1], (f.Return, f.Jump)) for handler in statement.handlers)


_WRAPS = frozenset({"enumerate", "sorted", "list", "tuple", "set", "reversed", "tqdm"})
"""Functions that give the items of what they are given first, and no others."""
_LOOKS = frozenset({"startswith", "endswith", "replace", "lower", "lstrip", "strip"})
"""Methods of texts that do nothing else."""
STATEMENTS: dict[type, Callable[[Interpreter, Any, Frame], Left]] = {
    f.Evaluate: _evaluate, f.Assign: _assign, f.Augment: _augment, f.Return: _return,
    f.Raise: _raise, f.Assert: _assert, f.Jump: _jump, f.If: _if, f.For: _for, f.While: _while,
    f.Try: _try, f.With: managers.run, f.Match: _match, f.Def: _def, f.Class: _class,
    f.Import: _import, f.ImportFrom: _import_from, f.Scope: _scope,
}  # fmt: skip
