"""What a module does in training mode only, in programs that put models into evaluation mode and train nothing."""

from __future__ import annotations

from d9mlint.python.domain.conditions import Cond, both, is_symbolic, literals, negate, opaque
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const
from d9mlint.python.interpreter.program import Program


def only(program: Program, draw: Event) -> bool:
    """Whether a draw decides nothing, or a gradient is never computed, as no module is in training mode by then."""
    if not draw.in_training and not _is_in_training(draw):
        return False
    switches = program.once("evaluation-modes", _evaluations)
    told = tuple(cond for cond in draw.guards if is_symbolic(cond))
    before = [event for event in switches if event.index < draw.index or draw.deferred]
    missed = (negate(both(*(cond for cond in event.guards if is_symbolic(cond)))) for event in before)
    return bool(before) and both(*told, *missed) is False


def _is_in_training(event: Event) -> bool:
    return any(_in_training(cond) for cond in event.guards)


def _asks_for_mode(event: Event) -> bool:
    """Whether something happens in one of the two modes only."""
    tests = (one.opaque for cond in event.guards for one in literals(cond))
    return any(test is not None and _is_mode(test.text) for test in tests)


def _in_training(cond: Cond) -> bool:
    test = opaque(cond)
    return test is not None and _is_mode(test.text)


def _is_mode(text: str) -> bool:
    return text == "training" or text.endswith(".training")


def _evaluations(program: Program) -> tuple[Event, ...]:
    """The calls of ``eval()`` of a program that turns no training mode on, nor computes gradients in whatever mode."""
    calls = [e for e in program.events if e.kind in ("call", "unresolved") and not e.detached]
    if not all(map(_asks_for_mode, program.trains)) or program.story.local or any(_turns_on(event) for event in calls):
        return ()
    return tuple(e for e in calls if e.name.endswith(".eval") and not e.args and not e.deferred)


def _turns_on(event: Event) -> bool:
    """Whether a call is ``model.train()``."""
    mode = event.args[0] if event.args else event.kwargs.get("mode")
    off = isinstance(mode, Const) and mode.value is False
    return event.name.endswith(".train") and not off
