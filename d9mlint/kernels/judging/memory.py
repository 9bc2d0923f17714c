"""Where the target of an atomic lives, and which variable it is reached through."""

from __future__ import annotations

import tree_sitter

from d9mlint.kernels.judging import declarations
from d9mlint.kernels.judging.known.scalars import kind
from d9mlint.kernels.judging.types import shorthands
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_MAX_STEPS = 40
_MAX_NODES = 20_000
_NULLS = ("nullptr", "NULL", "0")


def base(node: Node | None, unit: Unit) -> Node | None:
    """The identifier that an address expression starts from: ``grad`` of ``&grad[i] + 1``; None where there is none."""
    at = node
    for _ in range(_MAX_STEPS):
        if at is None or at.type == "identifier":
            return at
        if at.type == "this":
            return None
        misread = _misread(at, unit) if at.type == "cast_expression" else None
        if misread is not None:
            return misread
        at = _inner(at, unit)
    return None


def _misread(node: Node, unit: Unit) -> Node | None:
    """The variable of ``(float*)(grad) + i``, which the grammar takes for a cast of ``+i`` to a type ``grad``."""
    typed, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    name = typed.named_children[0] if typed is not None and len(typed.named_children) == 1 else None
    signed = value is not None and value.type in ("unary_expression", "pointer_expression", "parenthesized_expression")
    if name is None or name.type != "type_identifier" or not signed:
        return None
    return name if declarations.declared(node, unit.text(name), unit) is not None else None


def _inner(node: Node, unit: Unit) -> Node | None:
    if node.type in ("pointer_expression", "subscript_expression", "field_expression", "unary_expression"):
        return node.child_by_field_name("argument")
    if node.type == "update_expression":
        return node.child_by_field_name("argument")
    if node.type in ("cast_expression", "compound_literal_expression"):
        return node.child_by_field_name("value")
    if node.type == "binary_expression":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        return right if left is not None and _number(left, unit) else left
    if node.type == "assignment_expression":
        return node.child_by_field_name("left")
    if node.type == "call_expression":
        called = node.child_by_field_name("function")
        if called is not None and called.type == "field_expression":
            return called.child_by_field_name("argument")
        array = shorthands.element_of(node, unit)
        if array is not None:
            return array
        listed = node.child_by_field_name("arguments")
        given = listed.named_children if listed is not None else []
        cast = called is not None and unit.text(called).endswith(">")
        return given[0] if given and cast else called if called is not None and called.type == "identifier" else None
    if node.type in ("parenthesized_expression", "argument_list", "comma_expression", "initializer_list"):
        return node.named_children[-1] if node.named_children else None
    if node.type == "conditional_expression":
        return node.child_by_field_name("consequence")
    return None


def _number(node: Node, unit: Unit) -> bool:
    """Whether an operand is no pointer: ``offset + data`` starts from ``data``."""
    if node.type == "number_literal":
        return True
    found = declarations.declared(node, unit.text(node), unit) if node.type == "identifier" else None
    return found is not None and not found.depth and kind(found.type) == "integer"


def memory(node: Node | None, unit: Unit) -> str:
    """``shared``, ``global`` or ``unknown``: where an address points.

    A ``__shared__`` variable or a pointer made of one is shared; a pointer parameter of a kernel is global memory
    (CUDA C++ Programming Guide, "Variable Memory Space Specifiers").
    """
    at = base(node, unit)
    for _ in range(8):
        if at is None:
            return "unknown"
        found = declarations.declared(at, unit.text(at), unit)
        if found is None:
            return "unknown"
        space = _declared_space(found, unit)
        if space:
            return space
        value = _later(at, unit) if found.value is None or unit.text(found.value) in _NULLS else found.value
        at = base(value, unit)
    return "unknown"


def _declared_space(found: declarations.Declared, unit: Unit) -> str:
    """What a declaration alone says; empty where that is what the variable is made of."""
    words = [word.encode() for word in found.prefix.split() if word.isupper()]
    meant = " ".join(unit.meaning(unit.path, word) for word in words) if unit.meaning is not None else ""
    if "__shared__" in f"{found.prefix} {meant}" or "SharedMemory" in found.type:
        return "shared"
    if "__device__" in found.prefix:
        return "global"
    if found.kind == "parameter":
        function = unit.function(found.node)
        return "global" if function is not None and "__global__" in function.qualifier else "unknown"
    made = found.value is not None and "SharedMemory" in unit.text(found.value)[:200]
    return "shared" if made else ""


def _later(name: Node, unit: Unit) -> Node | None:
    """The one value that a variable declared without one, or as null, gets in its function."""
    function = unit.function(name)
    wanted = unit.text(name)
    values: list[Node] = []
    pending = [function.node] if function is not None else []
    for _ in range(_MAX_NODES):
        if not pending:
            break
        node = pending.pop()
        if unit.data.find(wanted.encode(), node.start_byte, node.end_byte) < 0:
            continue
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        named = left is not None and left.type == "identifier" and unit.text(left) == wanted
        stored = node.type == "assignment_expression" and node.children[1].type == "="
        if named and stored and right is not None and unit.text(right) not in _NULLS:
            values.append(right)
        pending.extend(node.named_children)
    return values[0] if len(values) == 1 and not pending else None
