"""What tests that cannot be read ask, as far as their keys tell it: whose results they look at, what they compare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from d9mlint.python.domain.conditions import Opaque

_OF_PARTS = (("compare",), ("any",))
"""What begins the keys of tests of several values: two that are compared, or of which there is one."""


def made_by(test: Opaque) -> frozenset[str]:
    """The names of the calls whose results a test looks at, as far as its key tells them."""
    return frozenset(part[2] for part in _of_calls(test.key))


def asked_by(test: Opaque) -> frozenset[int]:
    """Which calls these are, by the ticks of their events, as far as its key tells them."""
    return frozenset(part[3] for part in _of_calls(test.key))


def asks(test: Opaque | None, endings: tuple[str, ...]) -> bool:
    """Whether a test looks at the result of a call whose name ends in one of these ways; None is no test."""
    return test is not None and any(name.endswith(endings) for name in made_by(test))


def equal_to(test: Opaque) -> str:
    """The constant, as written, that a test holds something unknown against with ``==``, as far as its key tells it."""
    consts = [part[1] for part in test.key[2:] if part[:1] == ("const",)] if test.key[:2] == ("compare", "==") else []
    return consts[0] if len(consts) == 1 else ""


def _of_calls(key: Any) -> Iterator[tuple[Any, ...]]:
    """The parts of a test's key that are about results of calls: ``("value", serial, name of the call, its tick)``."""
    if key[:1] == ("value",) and len(key) > len(("value", 0)):
        yield key
    elif key[:1] in _OF_PARTS:
        for part in key:
            if isinstance(part, tuple):
                yield from _of_calls(part)
