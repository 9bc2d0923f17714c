"""Sums of integers in two words: the old value of the low word only tells whether it overflowed.

How often the low word overflows is the same in any order, so what is carried into the high word is exact.
"""

from __future__ import annotations

import re

import tree_sitter

from d9mlint.kernels.judging import around, declarations
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_CAST = re.compile(r"\A(?:static_cast|reinterpret_cast)\s*<[^<>]*>\s*\((\w+)\)\Z|\A\(\s*\w[\w\s]*\)\s*(\w+)\Z")
_ADDS = re.compile(r"\batomicAdd\w*|\batomic_add\w*|fetch_add\Z")
_MAX_NAMES = 4
_MAX_STEPS = 40


def carried(test: Node, call: Node, unit: Unit) -> bool:
    """Whether a test of an old value against what was added (``old + x < x``) only gives a carry for another cell."""
    brought = _brought(call, unit)
    if not brought or not re.search(rf"\b{re.escape(brought)}\b", unit.text(test)):
        return False
    return _added(test, call, unit, 0)


def _brought(call: Node, unit: Unit) -> str:
    """The name of what a call adds; empty for a value without one."""
    called, listed = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    given = listed.named_children if listed is not None else []
    if called is None or len(given) < 2 or _ADDS.search(unit.text(called)) is None:
        return ""
    text = " ".join(unit.text(given[1]).split())
    cast = _CAST.match(text)
    name = (cast[1] or cast[2]) if cast is not None else text
    return name if name.isidentifier() else ""


def _added(node: Node, call: Node, unit: Unit, names: int) -> bool:
    """Whether all that becomes of a value is that it is added to another cell."""
    at = node
    for _ in range(_MAX_STEPS):
        parent = at.parent
        if parent is None or names > _MAX_NAMES:
            return False
        if parent.type == "argument_list" and parent.parent is not None and parent.parent.type == "call_expression":
            called = parent.parent.child_by_field_name("function")
            adds = called is not None and _ADDS.search(unit.text(called)) is not None
            return adds and at != parent.named_children[0] and parent.parent.start_byte > call.start_byte
        if parent.type == "init_declarator":
            declarator = parent.child_by_field_name("declarator")
            named = declarations.named(declarator, unit) if declarator is not None else None
            return named is not None and _all_added(named[0], parent, call, unit, names)
        if parent.type not in ("parenthesized_expression", "conditional_expression", "binary_expression",
                               "cast_expression"):  # fmt: skip
            return False
        at = parent
    return False


def _all_added(name: str, defined: Node, call: Node, unit: Unit, names: int) -> bool:
    function = unit.function(defined)
    if function is None:
        return False
    later = [n for n in around.identifiers(function.node, name, unit) if n.start_byte >= defined.end_byte]
    return bool(later) and all(_added(n, call, unit, names + 1) for n in later)
