"""What is done only where a file is not there, by the conditions that it stands under."""

from __future__ import annotations

import re

from d9mlint.python.domain.conditions import EXCEPTION, Cond, both, negate, opaque
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.testkeys import asked_by, made_by

_THERE = re.compile(r"exists\(|isfile\(|is_file\(")
TESTS = (".exists", ".isfile", ".is_file")
"""How the names of calls end that ask whether a file is there."""


def absent(event: Event, test: Event) -> bool:
    """Whether something happens only where a test has not found its file, or where reading it has failed."""
    if not test.name.endswith(TESTS):
        return test.tried > event.tried and any(_has_failed(guard) and _is_of(guard, test) for guard in event.guards)
    return any(is_missing(guard) and _asks(guard, test) and _is_of(guard, test) for guard in event.guards)


def _asks(guard: Cond, test: Event) -> bool:
    """Whether a condition is about what a test says of its file, not about what another says; True if none is known."""
    asked = opaque(negate(guard))
    if asked is None:
        return False
    calls = asked_by(asked)
    return not calls or test.tick in calls


def is_missing(guard: Cond) -> bool:
    """Whether a condition is that a file is not there."""
    test = opaque(negate(guard))
    if test is None:
        return _has_failed(guard)
    return _THERE.search(test.text) is not None or any(name.endswith(TESTS) for name in made_by(test))


def _has_failed(guard: Cond) -> bool:
    """Whether a condition is that something has raised an exception."""
    test = opaque(guard)
    return test is not None and test.text == EXCEPTION


def _is_of(guard: Cond, test: Event) -> bool:
    """Whether a condition is not one that held already where a file is looked for."""
    return both(guard, *test.guards) is not False and guard not in test.guards
