"""What a setting has to be, in words, where alternatives of several settings would explain nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from d9mlint.python.domain import diagrams
from d9mlint.python.domain.conditions import Cond, Opaque, both, negate
from d9mlint.python.domain.diagrams import Node, Variable

_EQUALS = re.compile(r"""(\S+) (?:==|is) ('[^']*'|"[^"]*"|-?\d+(?:\.\d+)?)""")
"""``hparams.kind == 'near'``."""
_MOST = 4
"""Values that are told one by one."""


def setting_compared(test: str) -> str:
    """The setting that a test compares with a text or a number; empty for other tests."""
    match = _EQUALS.fullmatch(test)
    return match[1] if match else ""


def choice(tests: Sequence[str]) -> str | None:
    """What one setting has to be for any of several tests to hold: ``config["net"]`` is 'a' or 'b'.

    Empty where so many will do that these are most likely all there are; None for tests of other kinds.
    """
    found = [_EQUALS.fullmatch(test) for test in tests]
    names = {match[1] if match else "" for match in found}
    if len(tests) < 2 or len(names) > 1 or "" in names:
        return None
    values = sorted(match[2] for match in found if match)
    return f"`{names.pop()}` is {_listed(values, 'or')}" if len(values) < _MOST else ""


def values_needed(cond: Node) -> Iterator[str]:
    """What each setting that is compared with texts or numbers has to be wherever the condition holds."""
    settings: dict[str, dict[str, list[Variable]]] = {}
    for variable in cond.support:
        match = _EQUALS.fullmatch(variable.name.text) if isinstance(variable.name, Opaque) else None
        if match:
            settings.setdefault(match[1], {}).setdefault(match[2], []).append(variable)
    for name in sorted(settings):
        yield from _values(name, settings[name], cond)


def _values(name: str, tests: dict[str, list[Variable]], cond: Node) -> Iterator[str]:
    """A setting has one value, so that at most one of its tests comes out true."""
    own = {variable for variables in tests.values() for variable in variables}
    left = diagrams.without(cond, [variable for variable in cond.support if variable not in own])
    possible = [value for value in sorted(tests) if diagrams.meets(left, _only(value, tests))]
    gone = [value for value in sorted(tests) if value not in possible]
    if not diagrams.meets(left, _only(None, tests)):
        if 0 < len(possible) <= _MOST:
            yield f"`{name}` is {_listed(possible, 'or')}"
    elif 0 < len(gone) <= _MOST:
        yield f"`{name}` is not {gone[0]}" if len(gone) == 1 else f"`{name}` is none of {_listed(gone, 'and')}"


def _only(wanted: str | None, tests: dict[str, list[Variable]]) -> Cond:
    """The setting has this value, and none of the others."""
    outcomes = [(diagrams.test(variable), value) for value, variables in tests.items() for variable in variables]
    return both(*(test if value == wanted else negate(test) for test, value in outcomes))


def _listed(values: list[str], word: str) -> str:
    return f"{', '.join(values[:-1])} {word} {values[-1]}" if len(values) > 1 else values[0]
