"""``with``: what its items are bound to and say of the block, and what context managers do before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from d9mlint.model import Location
from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.path import Path
from d9mlint.python.domain.values import NONE, Bound, Func, Inst, Obj, Seq, Value
from d9mlint.python.interpreter import attributes, calls, expressions
from d9mlint.python.interpreter.hooks import ask
from d9mlint.python.interpreter.program import holds
from d9mlint.python.source import facts as f
from d9mlint.python.source import queries

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter
    from d9mlint.python.interpreter.statements import Left

_MAKERS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})


class Rest(NamedTuple):
    """What a context manager still has to do when the block is left."""

    body: Sequence[f.Stmt]
    frame: Frame
    stack: tuple[Location, ...]
    callers: tuple[Func | None, ...]


class Opening:
    """An item of a ``with``, while it is evaluated."""

    def __init__(self, item: f.Call, path: Path) -> None:
        self.place = item.place
        self.path = path
        self.rests: list[Rest] = []


def run(interp: Interpreter, node: f.With, frame: Frame) -> Left:
    """``with item as target: body``."""
    added = 0
    rests: list[Rest] = []
    leaving: list[Bound] = []
    for item, target in node.items:
        value = _evaluated(interp, item, frame, rests)
        entered, context = _enter(interp, value, frame)
        if context:
            interp.contexts.append(context)
            added += 1
        if isinstance(value, Inst):
            after = attributes.attribute(interp, value, "__exit__", frame, f.NOWHERE)
            leaving += [after] if isinstance(after, Bound) else []
        if target is not None:
            interp.assign(target, entered, frame, f.NOWHERE)
    left = interp.block(node.body, frame)
    for rest in reversed(rests):
        _leave(interp, rest)
    for after in reversed(leaving):
        calls.call(interp, after, [NONE, NONE, NONE], {}, frame, f.NOWHERE)
    if added:
        del interp.contexts[-added:]
    return left


def _evaluated(interp: Interpreter, item: f.Expr, frame: Frame, rests: list[Rest]) -> Value:
    """The value of an item; what is left to do of a function that makes a context manager is kept for later."""
    if not isinstance(item, f.Call):
        return expressions.evaluate(interp, item, frame)
    outer, interp.opening = interp.opening, Opening(item, interp.path)
    value = expressions.evaluate(interp, item, frame)
    rests += interp.opening.rests
    interp.opening = outer
    return value


def _enter(interp: Interpreter, value: Value, frame: Frame) -> tuple[Value, str]:
    """What ``with value as x`` binds, and the context that its body runs in."""
    if isinstance(value, Seq) and value.kind == "generator":
        return value.element or value, ""  # no generator is a context manager: `contextmanager` made it one
    if isinstance(value, Obj) and value.event is not None:
        for effect in value.event.effects:
            if effect.enters and holds(value.event, effect.when) is True:
                return value, effect.enters
        context = ask(interp.hooks.enters, value.event)
        if context is not None:
            return value, context
    if isinstance(value, Inst):
        enter = attributes.attribute(interp, value, "__enter__", frame, f.NOWHERE)
        if isinstance(enter, Bound):
            return calls.call(interp, enter, [], {}, frame, f.NOWHERE), ""
    return value, ""


def parts(interp: Interpreter, func: Func, place: f.Place) -> tuple[Sequence[f.Stmt], Sequence[f.Stmt]] | None:
    """What a function does before and after the block of a ``with`` whose item this call of it is; None for others."""
    opening = interp.opening
    if opening is None or opening.place is not place or opening.path is not interp.path:
        return None
    made = any(calls.decorator_name(interp, one) in _MAKERS for one in func.decorators)
    return _parted(func.node.body) if made and isinstance(func.node, f.Def) else None


def keep(interp: Interpreter, body: Sequence[f.Stmt], frame: Frame) -> None:
    """Leaves the rest of a function for the end of the block."""
    if interp.opening is not None:
        interp.opening.rests.append(Rest(body, frame, interp.stack, interp.callers))


def _leave(interp: Interpreter, rest: Rest) -> None:
    stack, interp.stack = interp.stack, rest.stack
    callers, interp.callers = interp.callers, rest.callers
    interp.block(rest.body, rest.frame)
    interp.stack, interp.callers = stack, callers


def _parted(body: Sequence[f.Stmt]) -> tuple[Sequence[f.Stmt], Sequence[f.Stmt]] | None:
    """The statements up to the ``yield``, and those after it; None where it stands in a loop."""
    for number, statement in enumerate(body):
        after = body[number + 1 :]
        if isinstance(statement, (f.Evaluate, f.Assign)) and isinstance(statement.value, f.Yield):
            return body[: number + 1], after
        if isinstance(statement, f.Try) and (inside := _parted(statement.body)) is not None:
            return (*body[:number], *inside[0]), (*inside[1], *statement.orelse, *statement.final, *after)
        if isinstance(statement, f.If) and (both := _parted_branches(statement)) is not None:
            return (*body[:number], both[0]), (both[1], *after)
    return None


def _parted_branches(node: f.If) -> tuple[f.If, f.If] | None:
    """The same of a ``yield`` in either branch of a test that calls nothing, which is so the same when asked again."""
    if any(queries.inside(node.test, f.Call)):
        return None
    parts = [_parted(branch) for branch in (node.body, node.orelse)]
    if not any(parts):
        return None
    (body, rest), (orelse, other) = (
        one or (branch, ()) for one, branch in zip(parts, (node.body, node.orelse), strict=True)
    )
    return node._replace(body=tuple(body), orelse=tuple(orelse)), node._replace(body=tuple(rest), orelse=tuple(other))
