"""Kokkos' views that are changed atomically: ``v(i) += x`` with ``MemoryTraits<Atomic>``, scatter views."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.kernels.sites.members import OPERATORS, Operation, Variable, function_of, meant, variables
from d9mlint.kernels.sites.presence import views_in
from d9mlint.kernels.source.lexical import in_line_comment
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Unit

_VIEW = r"\b(?:DynRank)?View\b(?=\s*<[^;{}]{0,600}\bMemoryTraits\s*<[^<>;]*\bAtomic\b)"
_USING = re.compile(r"\busing\s+(\w+)\s*=[^;{}]{0,40}?" + _VIEW)
_ACCESS = re.compile(
    r"[\w>&]\s+(\w+)\s*=\s*[\w.>()\[\]-]{1,80}?(?:\.|->)\s*(?:template\s+)?access\s*(?:<[^;()]*>)?\s*\(\s*\)\s*;"
)
"""``auto a = scatter.access();`` (https://kokkos.org/kokkos-core-wiki/API/containers/ScatterView.html)."""
_CHANGED = re.compile(rb"[)\]]\s*(?:[-+&|^]=|\+\+|--)|(?:\+\+|--)\s*\w+\s*[(\[]")
_MAX_LEVELS = 8


def operations(unit: Unit, repository: Repository) -> Iterator[Operation]:
    """The atomic changes in a source that sees such views."""
    text = unit.data.decode("latin-1")
    aliases = sorted(_aliases(repository, unit.path))
    pattern = re.compile("|".join([_VIEW, *(rf"\b{name}\b(?!\s*=)" for name in aliases)]))
    views = [*variables(unit, text, pattern, {}), *_accesses(unit, text)]
    for match in _CHANGED.finditer(unit.data) if views else ():
        if in_line_comment(unit.data, match.start()):
            continue
        at = unit.root.descendant_for_byte_range(match.end() - 1, match.end())
        for _ in range(_MAX_LEVELS):
            if at is None or at.type in ("assignment_expression", "update_expression"):
                break
            at = at.parent
        operator = at.child_by_field_name("operator") if at is not None else None
        first = (at.child_by_field_name("left") or at.child_by_field_name("argument")) if at is not None else None
        intrinsic = OPERATORS.get(unit.text(operator)) if operator is not None else None
        if at is None or operator is None or first is None or intrinsic is None:
            continue
        if first.type in ("call_expression", "subscript_expression") and meant(unit, first, views) is not None:
            right = at.child_by_field_name("right")
            arguments = (first, *([right] if right is not None else []))
            yield Operation(at.start_byte, at, None, unit.text(operator), intrinsic, "device", arguments)


def _accesses(unit: Unit, text: str) -> Iterator[Variable]:
    """The variables that give access to what a view scatters into."""
    for match in _ACCESS.finditer(text) if "catter" in text else ():
        node = unit.root.descendant_for_byte_range(match.start(1), match.end(1))
        if node is not None and not in_line_comment(unit.data, match.start()):
            yield Variable(match[1], function_of(unit, node), "device", None)


def _aliases(repository: Repository, path: str) -> set[str]:
    """The names that a file, or what it includes, gives to types of atomic views."""
    paths = [p for p in repository.reachable(path) if views_in(repository.data(p))]
    return {name.decode("latin-1") for p in paths for name in repository.derived(named, p)}


def named(repository: Repository, path: str) -> tuple[bytes, ...]:
    """The names that a file itself gives to such types."""
    text = repository.data(path).decode("latin-1")
    return tuple(match[1].encode("latin-1") for match in _USING.finditer(text))
