"""Processes that a program starts afresh: which function they run, as what their parent did does not reach them."""

from __future__ import annotations

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Bound, Func, Partial, Value, alternatives
from d9mlint.python.interpreter.library.environment import SPAWNED
from d9mlint.python.interpreter.program import Program


def runs_in(program: Program, event: Event) -> str:
    """The name of the function that the process of an event runs; empty in the first process, or where not known."""
    if not event.inside(SPAWNED):
        return ""
    starts = program.once("process-starts", _starts)
    return next((starts[place] for place in event.stack if place in starts), "")


def _starts(program: Program) -> dict[object, str]:
    """The functions that calls start processes for, by the place of the call."""
    found: dict[object, str] = {}
    for event in program.events:
        if event.kind == "call" and event.name.rpartition(".")[2] in ("Process", "spawn", "start_processes"):
            given = [event.kwargs[key] for key in ("target", "fn") if key in event.kwargs] or list(event.args)
            name = next((name for value in given if (name := _function(value))), "")
            if name:
                found[event.location] = name
    return found


def _function(value: Value) -> str:
    for _, leaf in alternatives(value):
        if isinstance(leaf, (Bound, Partial)):
            return _function(leaf.func)
        if isinstance(leaf, Func):
            return leaf.name
    return ""


def remedy_there(program: Program, event: Event, remedy: str) -> str:
    """A remedy with the function that it belongs in, where that is one of another process."""
    name = runs_in(program, event)
    # One finding speaks for all programs that meet it, and not all of them need start processes.
    note = f" (where `{name}` runs in a process of its own, at its start: no seed of the parent reaches it)"
    return f"{remedy}{note}" if name else remedy
