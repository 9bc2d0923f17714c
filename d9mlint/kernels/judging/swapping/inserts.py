"""Keys that threads put into a hash table by compare-and-swap: look-ups find them whichever place they got.

``old = atomicCAS(&keys[slot], EMPTY, key); if (old == EMPTY || old == key) { values[slot] = v; break; } slot = ...``
"""

from __future__ import annotations

import re

import tree_sitter

from d9mlint.kernels.judging import around, declarations
from d9mlint.kernels.sites.atomics import Atomic

Node = tree_sitter.Node
_NAME = re.compile(r"[A-Za-z_]\w*")
_OUTER = ("subscript_argument_list", "expression_statement", "declaration", "condition_clause", "return_statement")
_CAST = re.compile(r"\A\([\w\s:]+\)\s*|\A(?:static_cast|reinterpret_cast)\s*<[^<>]*>\s*")


def inserts(atomic: Atomic) -> bool:
    """Whether a swap puts a key into the first place of a sequence that is free or holds it, and keeps that place.

    Not where the place itself is handed on: as a number, or as a pointer to it.
    """
    node, function = atomic.node, atomic.function
    loop = around.above(node, around.LOOPS) if node is not None else None
    if node is None or function is None or loop is None or len(atomic.arguments) < 3 or atomic.inner:
        return False
    old = _kept(node, atomic)
    expected, key = (_plain(atomic.unit.text(one)) for one in atomic.arguments[1:3])
    text = "".join(atomic.unit.text(loop).split())
    if not old or not all(_compared(text, old, value) for value in (expected, key)):
        return False
    named = dict.fromkeys(_NAME.findall(atomic.unit.text(atomic.arguments[0])))
    moved = [name for name in named if re.search(rf"\b{name}(?:[-+*/%&|^]?=(?!=)|\+\+|--)|(?:\+\+|--){name}\b", text)]
    return bool(moved) and all(_kept_inside(name, node, function.node, atomic) for name in moved)


def _kept(call: Node, atomic: Atomic) -> str:
    """The variable that gets the old value."""
    at = call.parent
    while at is not None and at.type in ("parenthesized_expression", "cast_expression"):
        at = at.parent
    if at is None or at.type not in ("init_declarator", "assignment_expression"):
        return ""
    named = at.child_by_field_name("declarator" if at.type == "init_declarator" else "left")
    return atomic.unit.text(named) if named is not None and named.type == "identifier" else ""


def _plain(text: str) -> str:
    return "".join(_CAST.sub("", " ".join(text.split())).split())


def _compared(text: str, old: str, value: str) -> bool:
    own, other = re.escape(old), re.escape(value)
    return re.search(rf"\b{own}=={other}(?!\w)|(?<!\w){other}=={own}\b", text) is not None


def _kept_inside(name: str, call: Node, function: Node, atomic: Atomic) -> bool:
    """Whether a variable that leads to the place is only used to look at elements, and to go on to the next place."""
    for node in around.identifiers(function, name, atomic.unit):
        inside = call.start_byte <= node.start_byte < call.end_byte
        if not inside and not _looks(node) and not _moves(node, name, atomic):
            return False
    return True


def _looks(node: Node) -> bool:
    """Whether an identifier is part of an index."""
    outer = around.above(node, _OUTER)
    return outer is not None and outer.type == "subscript_argument_list"


def _moves(node: Node, name: str, atomic: Atomic) -> bool:
    """Whether an identifier is set, or its own next value is reckoned with it."""
    at: Node | None = node
    while at is not None and at.type not in ("expression_statement", "declaration", "compound_statement"):
        if at.type == "update_expression":
            return True
        if at.type == "assignment_expression":
            left = at.child_by_field_name("left")
            return left is not None and atomic.unit.text(left) == name
        if at.type == "init_declarator":
            declarator = at.child_by_field_name("declarator")
            named = declarations.named(declarator, atomic.unit) if declarator is not None else None
            return named is not None and named[0] == name
        at = at.parent
    return False
