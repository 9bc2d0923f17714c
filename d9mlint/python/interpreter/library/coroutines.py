"""Coroutines that are started one after another and run side by side: what they leave comes as they end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import UNKNOWN, Bound, Func, Seq, Unknown, Value, born
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment
from d9mlint.python.interpreter.scopes import COMPLETION, OrderLoop
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

TASK = "asyncio.Task"


def is_one(func: Value) -> bool:
    """Whether a call only starts a function, which waits for something while others go on."""
    inner = func.func if isinstance(func, Bound) else func
    return isinstance(inner, Func) and isinstance(inner.node, f.Def) and inner.node.coroutine


@contextmanager
def side_by_side(interp: Interpreter, func: Value, frame: Frame, place: f.Place) -> Iterator[None]:
    """Of coroutines that are started in a loop, and that nobody waits for one by one, any may go on first."""
    task = interp.event("call", TASK, frame, place)
    task.raw = func.func.name if isinstance(func, Bound) else func.name if isinstance(func, Func) else task.raw
    interp.order_loops.append(OrderLoop(COMPLETION, (task,), len(interp.loops), born()))
    try:
        yield
    finally:
        interp.order_loops.pop()


def _run(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``asyncio.run(work())``, ``create_task(work())``: what the coroutine returns, when somebody waits for it."""
    return environment.first(event)


def _wait(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``done, pending = wait(tasks)``: sets of objects that are hashed by where they lie in memory."""
    done = Unknown(order=COMPLETION, sources=(event,))
    return Seq("tuple", [done, UNKNOWN])


_HANDED_ON = ("asyncio.run", "?.run_until_complete", "asyncio.create_task", "asyncio.ensure_future", "?.create_task")
_WAITS = ("asyncio.wait", "concurrent.futures.wait")
TRANSFER: dict[str, Transfer] = {**dict.fromkeys(_HANDED_ON, _run), **dict.fromkeys(_WAITS, _wait)}
