"""Sums of integers in two words: the old value of the low word only tells whether it overflowed.

How often the low word overflows is the same in any order, so what is carried into the high word is exact. So it is for
a counter of one bit, that ``atomicXor`` toggles: every second thread of those that toggle it finds it set.
"""

from __future__ import annotations

import re

import tree_sitter

from d9mlint.kernels.judging import around, declarations
from d9mlint.kernels.judging.constants import assigned
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_CAST = re.compile(r"\A(?:static_cast|reinterpret_cast)\s*<[^<>]*>\s*\((\w+)\)\Z|\A\(\s*\w[\w\s]*\)\s*(\w+)\Z")
_ADDS = re.compile(r"\batomicAdd\w*|\batomic_add\w*|fetch_add\Z")
_TOGGLES = re.compile(r"\batomicXor\w*\Z|fetch_xor\Z")
_SUMS = re.compile(r"[aA]tomic_?[aA]dd\w*\Z")
_CALL = re.compile(r"\{?([\w:]+)\((.+),-?\d+\);\}?")
_BIT = re.compile(r"1<<(\w+(?:%\w+)?)")
_TESTED = re.compile(r"\w+>>(\w+(?:%\w+)?)&1(?:[!=]=[01])?")
_ELEMENT = re.compile(r"(\w+)/(\w+(?:::\w+)*)\]?\Z")
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


def toggled(test: Node, call: Node, unit: Unit) -> bool:
    """Whether a test of the old value of a bit that is toggled only carries a constant into the counter of that bit.

    ``old = atomicXor(words + i / 32, 1u << i % 32); if (old >> i % 32 & 1) atomicAdd(bins + i, 2);``
    """
    at: Node | None = test
    while at is not None and at.type in ("parenthesized_expression", "condition_clause", "binary_expression"):
        at = at.parent
    called, listed = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    given = listed.named_children if listed is not None else []
    if at is None or at.type != "if_statement" or called is None or len(given) != 2:
        return False
    if _TOGGLES.search(unit.text(called)) is None or at.child_by_field_name("alternative") is not None:
        return False
    condition = at.child_by_field_name("condition")
    shift = _BIT.fullmatch(_stripped(unit.text(given[1])))
    asked = _TESTED.fullmatch(_stripped(unit.text(condition))) if condition is not None else None
    if shift is None or asked is None or asked[1] != shift[1]:
        return False
    place = _ELEMENT.search(_stripped(unit.text(given[0]))) or _ELEMENT.search(_spelled(given[0], call, unit))
    bit = re.fullmatch(r"(\w+)%(\w+(?:::\w+)*)", _of_name(shift[1], call, unit))
    function = unit.function(call)
    if bit is None or function is None or assigned(function.node, bit[1], unit):
        return False
    counted = place is not None and (place[1], place[2]) == (bit[1], bit[2])
    consequence = at.child_by_field_name("consequence")
    return counted and consequence is not None and _counts(consequence, bit[1], unit)


def _counts(statement: Node, index: str, unit: Unit) -> bool:
    """Whether a statement only adds a literal to the element of an index: ``atomicAdd(bins + i, 2);``."""
    found = _CALL.fullmatch(_stripped(unit.text(statement), parentheses=False))
    if found is None or _SUMS.search(found[1]) is None:
        return False
    return re.fullmatch(rf"\w+\+{index}|&\w+\[{index}\]", found[2]) is not None


def _spelled(address: Node, call: Node, unit: Unit) -> str:
    """An address with the values of the local variables in it: ``words+i/32`` for ``words + word``."""
    return re.sub(r"(?<![\w.>:])[A-Za-z_]\w*", lambda m: _of_name(m[0], call, unit), _stripped(unit.text(address)))


def _of_name(name: str, call: Node, unit: Unit) -> str:
    """The value of a local variable that is never assigned again; the name itself for others."""
    found = declarations.declared(call, name, unit) if name.isidentifier() else None
    function = unit.function(call)
    if found is None or found.kind != "local" or found.value is None or function is None:
        return name
    return name if assigned(function.node, name, unit) else _stripped(unit.text(found.value))


def _stripped(text: str, parentheses: bool = True) -> str:
    """A text without blanks, casts to unsigned, suffixes and superfluous parentheses."""
    found = re.sub(r"\s+", "", re.sub(r"\bunsigned(?:\s+int)?\b", "", text))
    found = re.sub(r"\b(\d+)[uU]\b", r"\1", found)
    return re.sub(r"[()]", "", found) if parentheses else found
