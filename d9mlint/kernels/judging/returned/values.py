"""What is only computed with a value, or gathered with others, on its way out of a function."""

from __future__ import annotations

import re

import tree_sitter

from d9mlint.kernels.judging import around, declarations
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_CONVERTS = re.compile(r"(?i:reinterpret|cast|conver|(?:de|en)code)|\Amake_|_t\Z")
"""In the names of functions that give a value in another form, and of types."""
_STORES = re.compile(
    rb"tom|asm|print|[\])]\s*[-+*/|&^]?=(?!=)|(?:->|\.)\s*\w+\s*[-+*/|&^]?=(?!=)|[;{]\s*\*+\s*\w+\s*=(?!=)"
)
"""In the body of a function that does more than compute."""
_CALLS = re.compile(rb"(\w+)\s*(?:<[^<>;(){}]*>\s*)?\(")
_HARMLESS = re.compile(r"__\w+|min|max|abs|if|for|while|switch|return|sizeof|static_assert|int|unsigned|float|double")
_PARTS = ("field_expression", "subscript_expression")
_PLAIN = ("binary_expression", "parenthesized_expression", "cast_expression", "unary_expression")


def computed(call: Node, name: str, unit: Unit) -> bool:
    """Whether a function that is given an old value only computes another value of it, as ``decode(old)`` does.

    It is handed values only, and its body stores nothing; where that is not in the source, its name says so.
    """
    called, listed = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    given = listed.named_children if listed is not None else []
    if called is None or called.type == "field_expression" or not all(_value(one, unit) for one in given):
        return False
    bodies = [one.node.child_by_field_name("body") for one in unit.functions() if one.name == name]
    if not bodies:
        return _CONVERTS.search(name) is not None
    return all(body is not None and _computes(body.text or b"") for body in bodies)


def _computes(body: bytes) -> bool:
    """Whether the body of a function stores nothing, and calls only what does not."""
    called = (name.decode("ascii", "replace") for name in _CALLS.findall(body))
    harmless = all(_HARMLESS.fullmatch(name) or _CONVERTS.search(name) for name in called)
    return harmless and _STORES.search(body) is None


def _value(node: Node, unit: Unit) -> bool:
    """Whether an argument is no place: a number, a variable that is no pointer, what is computed of such."""
    if node.type in ("number_literal", "true", "false"):
        return True
    if node.type == "identifier":
        found = declarations.declared(node, unit.text(node), unit)
        return found is not None and found.kind == "local" and not found.depth
    return node.type in _PLAIN and all(_value(one, unit) for one in node.named_children if "type" not in one.type)


def gathered(root: Node, left: Node, assignment: Node, unit: Unit) -> bool:
    """Whether a part of a local object gets an old value, and only such values are stored in it.

    ``Matrix m; m.data[i] = atomicXor(&a->data[i], v);``: the object is declared without a value, so nothing in it
    points to other memory.
    """
    name = unit.text(root)
    found = declarations.declared(root, name, unit)
    if found is None or found.kind != "local" or found.depth or found.value is not None or "&" in found.type:
        return False
    if found.node.type != "identifier" or "->" in unit.text(left) or "*" in unit.text(left).split("[")[0]:
        return False
    stored = _called(assignment, unit)
    for node in around.identifiers(around.scope(name, root, unit), name, unit):
        write = _assignment(place(node))
        early = node.start_byte < assignment.start_byte and node.start_byte != found.node.start_byte
        if (_called(write, unit) != stored) if write is not None else early:
            return False
    return bool(stored)


def _called(assignment: Node, unit: Unit) -> str:
    """The function whose value is assigned."""
    right = assignment.child_by_field_name("right")
    called = right.child_by_field_name("function") if right is not None and right.type == "call_expression" else None
    return unit.text(called) if called is not None else ""


def _assignment(node: Node) -> Node | None:
    parent = node.parent
    stores = (
        parent is not None and parent.type == "assignment_expression" and node == parent.child_by_field_name("left")
    )
    return parent if stores else None


def place(node: Node) -> Node:
    """``slots[0]``, ``m.data[i]`` for the variable that they begin with."""
    at = node
    while at.parent is not None and at.parent.type in _PARTS and at == at.parent.child_by_field_name("argument"):
        at = at.parent
    return at
