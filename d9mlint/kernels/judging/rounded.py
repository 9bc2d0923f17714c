"""Addends that are rounded to one grid before they are added: their sums are exact, whatever the order."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from d9mlint.kernels.judging import declarations, memory
from d9mlint.kernels.judging.constants import MAX_CALLS, assigned, atomic_calls
from d9mlint.kernels.judging.types.nearby import units
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.source.lexical import word_places
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_MAX_STEPS = 6
_NAME = r"((?:[A-Za-z_]\w*(?:\.|->))?[A-Za-z_]\w*)"
_ROUNDS = re.compile(rf"\(\s*{_NAME}\s*\+\s*{_NAME}\s*\)\s*-\s*(?:\1|\2)")
"""``(grid + x) - grid``: what of ``x`` is finer than the last digit of ``grid`` is cut off (Demmel and Nguyen 2013)."""
_RETURNS = re.compile(rf"\{{\s*return\s+\(?\s*{_ROUNDS.pattern}\s*\)?\s*;\s*\}}")
_BRACES = ("initializer_list", "compound_literal_expression")


def rounded(atomic: Atomic, repository: Repository) -> str:
    """How the operand of an atomic is rounded, as written; empty where not all that is added to that place is."""
    if len(atomic.arguments) != 2 or atomic.function is None or atomic.node is None:
        return ""
    inside, unit = atomic.function.node, atomic.unit
    base = memory.base(atomic.arguments[0], unit)
    found = _rounding(atomic.arguments[1], unit, repository)
    if not found or base is None:
        return ""
    calls = [*atomic_calls(inside, unit.data), *_of_name(atomic.name, inside, unit)]
    if len(calls) > MAX_CALLS:
        return ""
    name = unit.text(base)
    for address, value in (given[:2] for given in calls if len(given) >= 2):
        root = memory.base(address, unit)
        same = root is None or unit.text(root) == name
        if same and not _rounding(value, unit, repository):
            return ""
    return found


def _of_name(name: str, function: Node, unit: Unit) -> Iterator[list[Node]]:
    """The arguments of the calls of a function inside another."""
    for at in word_places(unit.data, name.encode(), function.start_byte, function.end_byte):
        node = function.descendant_for_byte_range(at, at + len(name))
        while node is not None and node.type in ("identifier", "qualified_identifier", "template_function"):
            node = node.parent
        listed = node.child_by_field_name("arguments") if node is not None and node.type == "call_expression" else None
        if listed is not None:
            yield listed.named_children


def _rounding(node: Node | None, unit: Unit, repository: Repository, steps: int = _MAX_STEPS) -> str:
    if node is None or not steps:
        return ""
    if node.type == "binary_expression":
        text = unit.text(node)
        return " ".join(text.split()) if _ROUNDS.fullmatch(text) else ""
    if node.type in ("parenthesized_expression", "unary_expression", "cast_expression"):
        return _rounding(node.named_children[-1], unit, repository, steps - 1)
    if node.type == "call_expression":
        return _called(node, unit, repository) or _parts(node.child_by_field_name("arguments"), unit, repository, steps)
    if node.type in _BRACES:
        return _parts(node.child_by_field_name("value") or node, unit, repository, steps)
    found = declarations.declared(node, unit.text(node), unit) if node.type == "identifier" else None
    function = unit.function(node)
    if found is None or found.kind != "local" or function is None or assigned(function.node, unit.text(node), unit):
        return ""
    return _rounding(found.value, unit, repository, steps - 1)


def _parts(listed: Node | None, unit: Unit, repository: Repository, steps: int) -> str:
    """How the parts of an object are rounded that are all: ``Pair{round(grid, a), round(grid, b)}``."""
    parts = [_rounding(one, unit, repository, steps - 1) for one in listed.named_children] if listed is not None else []
    return parts[0] if parts and all(parts) else ""


def _called(call: Node, unit: Unit, repository: Repository) -> str:
    """The call, where all functions of this name round and do nothing else."""
    called = call.child_by_field_name("function")
    text = unit.text(called) if called is not None else ""
    name = text.partition("<")[0].rpartition("::")[2].strip()
    rounds = name.isidentifier() and repository.derived(_rounding_function, f"{unit.path}\0{name}")
    return f"{text}(...)" if rounds else ""


def _rounding_function(repository: Repository, key: str) -> bool:
    path, _, name = key.partition("\0")
    own = repository.unit(path)
    bodies = [
        unit.text(body)
        for unit in (units(own, repository, name) if own is not None else ())
        for function in unit.functions()
        if function.name == name and (body := function.node.child_by_field_name("body")) is not None
    ]
    return bool(bodies) and all(_RETURNS.fullmatch(body) for body in bodies)
