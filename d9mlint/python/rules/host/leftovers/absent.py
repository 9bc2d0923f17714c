"""What is done only where a file is not there, by the conditions that it stands under."""

from __future__ import annotations

import functools
import re

from d9mlint.python.domain.conditions import (
    Cond,
    Opaque,
    at_defaults,
    both,
    conjuncts,
    has_raised,
    is_symbolic,
    negate,
    opaque,
)
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.testkeys import asked_by, asks

_THERE = re.compile(r"exists\(|isfile\(|is_file\(")
TESTS = (".exists", ".isfile", ".is_file")
"""How the names of calls end that ask whether a file is there."""
_BOTH = "and"
"""The text of a test that is made of others and has none of its own."""


def absent(event: Event, test: Event) -> bool:
    """Whether something happens only where a test has not found its file, or where reading it has failed."""
    if not test.name.endswith(TESTS):
        return test.tried > event.tried and any(has_raised(guard) and _is_of(guard, test) for guard in event.guards)
    return any(is_missing(guard) and _asks(guard, test) and _is_of(guard, test) for guard in event.guards)


def _asks(guard: Cond, test: Event) -> bool:
    """Whether a condition is about what a test says of its file, not about what another says; True if none is known."""
    calls = _askers(guard)
    return test.tick in calls if calls is not None else True


@functools.lru_cache(maxsize=4096)
def _askers(guard: Cond) -> frozenset[int] | None:
    """The calls that ask for the files of which a condition says that one is not there; None if one is not known."""
    calls = [asked_by(one) for one in _asked(guard)]
    return frozenset().union(*calls) if all(calls) else None


@functools.lru_cache(maxsize=4096)
def is_missing(guard: Cond) -> bool:
    """Whether a condition is that a file, or one of several, is not there."""
    return any(map(_is_of_files, _asked(guard))) or has_raised(guard)


@functools.lru_cache(maxsize=4096)
def _asked(guard: Cond) -> list[Opaque]:
    """The tests of which a condition says that one fails, of several by flags that of a run without any.

    ``not exists(one) if args.number is None else not exists(other)``.
    """
    found = _failing(guard)
    return found if found or is_symbolic(guard) else _failing(at_defaults(guard))


def _failing(guard: Cond) -> list[Opaque]:
    """The tests of which a condition says that one fails: ``not (exists(one) and exists(other))``.

    Empty where a setting is one of them (``use_cached and exists(path)``): whether it is on is not known.
    """
    tests = [opaque(part) for part in conjuncts(negate(guard))]
    known = [test for test in tests if test is not None]
    alone = len(tests) < 2 or all(test is not None and (test.text == _BOTH or _is_of_files(test)) for test in tests)
    return known if alone else []


def _is_of_files(test: Opaque) -> bool:
    return _THERE.search(test.text) is not None or asks(test, TESTS)


def _is_of(guard: Cond, test: Event) -> bool:
    """Whether a condition is not one that held already where a file is looked for."""
    return guard not in test.guards and both(guard, *test.guards) is not False
