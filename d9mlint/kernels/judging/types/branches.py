"""Types that a branch or the head of a template admits: ``if constexpr (std::is_integral_v<T>)``."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from d9mlint.kernels.judging.known.scalars import kind, plain, short
from d9mlint.kernels.judging.types.instantiations import Bindings
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_KINDS = {"is_integral": "integer", "is_floating_point": "float", "integral": "integer", "floating_point": "float"}
_ANY = {"integer": "int", "float": "float"}
"""A type of a kind, where none is named."""


def narrowed(found: Bindings, name: str, node: Node, unit: Unit) -> Bindings:
    """Those of the types of a template parameter that reach a place."""
    for test, holds in _tests(node, unit):
        parts = test.split("&&") if "||" not in test else []
        for part in parts if holds or len(parts) == 1 else ():
            found = _admitted(found, name, part, holds) if "!" not in part else found
    return found


def _tests(node: Node, unit: Unit) -> Iterator[tuple[str, bool]]:
    """What is tested of types above a place, each with whether it holds there."""
    below, at = node, node.parent
    while at is not None:
        if at.type == "if_statement" and b"constexpr" in unit.data[at.start_byte : at.start_byte + 30]:
            condition = at.child_by_field_name("condition")
            if condition is not None and below != condition:
                yield unit.text(condition), below == at.child_by_field_name("consequence")
        if at.type == "template_declaration":
            body = below.child_by_field_name("body")
            head = unit.data[at.start_byte : body.start_byte if body is not None else at.start_byte]
            if b"enable_if" in head or b"requires" in head:
                yield head.decode("utf-8", "replace"), True
        below, at = at, at.parent


def _admitted(found: Bindings, name: str, test: str, holds: bool) -> Bindings:
    """What a test of types leaves."""
    of = rf"<\s*(?:typename\s+)?{re.escape(name)}\s*"
    tested = re.search(
        rf"\b(?:std::)?(is_integral|is_floating_point|std::integral|std::floating_point)(?:_v)?\s*{of}>", test
    )
    if tested is not None:
        wanted = _KINDS[tested[1].removeprefix("std::")]
        if holds:
            kept = tuple(t for t in found.types if kind(t) == wanted)
            return Bindings(kept or (_ANY[wanted],))
        return found._replace(types=tuple(t for t in found.types if kind(t) != wanted) or found.types)
    same = re.search(rf"\bis_same(?:_v)?\s*{of},\s*([\w:]+(?: \w+)*)\s*>", test)
    if same is None or not kind(same[1]):
        return found
    typed = short(plain(same[1]))
    if holds:
        return Bindings((typed,))
    return found._replace(types=tuple(t for t in found.types if short(t) != typed) or found.types)
