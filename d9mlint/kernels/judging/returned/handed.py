"""Old values that are handed to a function of the repository: what its body does with them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.kernels.judging import declarations
from d9mlint.kernels.judging.returned import uses
from d9mlint.kernels.judging.types.templates import seen_from
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Function, Unit

_MAX_LEVELS = 4
_MAX_BODIES = 6
_ARGUMENTS = re.compile(r"<.*", re.DOTALL)


def followed(use: uses.Use, unit: Unit, repository: Repository, level: int = 0) -> uses.Use:
    """The use of a value that is only handed on, where all bodies of the function keep it, or take a place by it."""
    if not use.passed or use.given is None or level > _MAX_LEVELS:
        return use
    call, place = use.given
    called = call.child_by_field_name("function")
    name = _ARGUMENTS.sub("", unit.text(called)).rpartition("::")[2].strip() if called is not None else ""
    if called is None or called.type == "field_expression" or not name.isidentifier():
        return use
    found = [
        followed(uses.of_parameter(body.node, place, where), where, repository, level + 1)
        for body, where in _bodies(name, place, unit, repository)
    ]
    kept = all(one.kind in ("index", "value") and not one.passed and not one.queue for one in found)
    return use._replace(kind=found[0].kind, text=found[0].text, passed=False) if found and kept else use


def _bodies(name: str, place: int, unit: Unit, repository: Repository) -> Iterator[tuple[Function, Unit]]:
    """The functions of a name that a file sees and that take a value there: its own, else those of other files."""
    seen = seen_from(repository, unit.path)
    others = (path for path in repository.holding(name.encode()) if path in seen and path != unit.path)
    count = 0
    for where in (unit, *(one for path in others if (one := repository.unit(path)) is not None)):
        for function in where.functions():
            fits = function.name == name and _takes_value(function, place, where)
            if fits and function.node.child_by_field_name("body") is not None and count < _MAX_BODIES:
                count += 1
                yield function, where
        if count:
            return


def _takes_value(function: Function, place: int, unit: Unit) -> bool:
    """Whether a parameter is no pointer: what is reckoned to an address is not the old value any more."""
    declarator = declarations.parameter_at(function.node, place)
    named = declarations.named(declarator, unit) if declarator is not None else None
    return named is not None and not named[1]
