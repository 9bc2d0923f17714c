"""Types that are written by what has them: ``decltype(x)``, and functions that give them."""

from __future__ import annotations

import re

from d9mlint.kernels.judging import declarations
from d9mlint.kernels.judging.known.scalars import kind
from d9mlint.kernels.judging.known.spelled import Type, spelled
from d9mlint.kernels.source.unit import Unit

_VARIABLE = re.compile(r"\bdecltype\s*\(\s*(\*?)\s*(\w+)\s*(\[[^\[\]]*\])?\s*\)")


def variable(written: str) -> tuple[str, bool]:
    """The variable in a ``decltype``, and whether what it points to is meant: ``*x``, ``x[0]``; empty for none."""
    found = _VARIABLE.search(written)
    return (found[2], bool(found[1] or found[3])) if found is not None else ("", False)


def returned(name: str, unit: Unit) -> Type | None:
    """The scalar, or pointer to one, that all functions of a name give which a source defines; else None."""
    if not re.fullmatch(r"\w+", name) or name.encode() not in unit.data:
        return None
    found = {
        (declarations.typed_text(typed, unit), unit.text(declarator).partition("(")[0].count("*"))
        for function in unit.functions()
        if function.name == name
        and (typed := function.node.child_by_field_name("type")) is not None
        and (declarator := function.node.child_by_field_name("declarator")) is not None
    }
    if len(found) != 1:
        return None
    text, stars = found.pop()
    given = spelled(text)
    return Type(given.name, given.depth + stars) if kind(given.name) else None
