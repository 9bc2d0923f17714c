"""What a module does in training mode only, in programs that put models into evaluation mode and train nothing.

Some put the layers that drop out back into training mode, to see how far predictions spread (Monte Carlo dropout).
"""

from __future__ import annotations

import re

from d9mlint.model import Location
from d9mlint.python.domain.conditions import TYPE_TEST, Cond, both, either, is_symbolic, literals, negate, opaque
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Ref, Seq, alternatives
from d9mlint.python.interpreter.program import Program

_DROPOUT = re.compile(r"torch\.nn\.(modules\.dropout\.)?\w*Dropout\w*")
_SAYS_DROPOUT = re.compile(r"dropout", re.IGNORECASE)
_ASKS_TYPE = "builtins.isinstance"


def drops_out(program: Program, draw: Event) -> Cond:
    """When a layer that drops out is put into training mode by itself, whatever the program does."""
    return program.once("monte-carlo-dropout", _dropped_out) if _DROPOUT.fullmatch(draw.name) else False


def _dropped_out(program: Program) -> Cond:
    """When ``train()`` is called of the modules that are a dropout by their type or its name, not of others."""
    modes = [e for e in program.events if e.kind == "call" and not e.detached and _turns_on(e)]
    types = {e.location for e in program.calls(_ASKS_TYPE) if _names_dropout(e)} if modes else set()
    found: list[Cond] = []
    for event in modes:
        rest = [cond for cond in event.guards if not _asks_for_dropout(cond, types)]
        if len(rest) < len(event.guards):
            found.append(both(*rest))
    return either(*found)


def _names_dropout(event: Event) -> bool:
    """Whether a call asks whether something is a dropout, or one of several such types."""
    leaves = [leaf for _, leaf in alternatives(event.args[1])] if len(event.args) > 1 else []
    types = [one for leaf in leaves for one in (leaf.items or () if isinstance(leaf, Seq) else (leaf,))]
    return bool(types) and all(isinstance(one, Ref) and _DROPOUT.fullmatch(one.name) for one in types)


def _asks_for_dropout(cond: Cond, types: set[Location]) -> bool:
    test = opaque(cond)
    if test is None:
        return False
    return test.key[-1] in types if test.text == TYPE_TEST else _SAYS_DROPOUT.search(test.text) is not None


def only(program: Program, draw: Event) -> bool:
    """Whether a draw decides nothing, or a gradient is never computed, as no module is in training mode by then."""
    if not draw.in_training and not any(map(_in_training, draw.guards)):
        return False
    told = filter(is_symbolic, draw.guards)
    missed = [when for event, when in evaluations(program) if event.index < draw.index or draw.deferred]
    return bool(missed) and both(*told, *missed) is False


def _asks_for_mode(event: Event) -> bool:
    """Whether something happens in one of the two modes only."""
    tests = (one.opaque for cond in event.guards for one in literals(cond))
    return any(test is not None and _is_mode(test.text) for test in tests)


def _in_training(cond: Cond) -> bool:
    test = opaque(cond)
    return test is not None and _is_mode(test.text)


def _is_mode(text: str) -> bool:
    return text == "training" or text.endswith(".training")


def evaluations(program: Program) -> list[tuple[Event, Cond]]:
    """The calls of ``eval()``, and when each is passed by, as far as that can be told.

    None of a program that turns a training mode on, or computes gradients in whatever mode.
    """
    return program.once("evaluation-modes", _evaluations)


def _evaluations(program: Program) -> list[tuple[Event, Cond]]:
    calls = [e for e in program.events if e.kind in ("call", "unresolved") and not e.detached]
    if not all(map(_asks_for_mode, program.trains)) or program.story.local or any(map(_turns_on, calls)):
        return []
    modes = (e for e in calls if e.name.endswith(".eval") and not e.args and not e.deferred)
    return [(e, negate(both(*filter(is_symbolic, e.guards)))) for e in modes]


def _turns_on(event: Event) -> bool:
    """Whether a call is ``model.train()``."""
    mode = event.args[0] if event.args else event.kwargs.get("mode")
    off = isinstance(mode, Const) and mode.value is False
    return event.name.endswith(".train") and not off
