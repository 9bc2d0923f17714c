"""Variables outside of a function in which it keeps an old value: parameters by reference, members, globals."""

from __future__ import annotations

import tree_sitter

from d9mlint.kernels.judging import declarations, memory
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node


def kept(left: Node, unit: Unit) -> tuple[str, str]:
    """The kind of use that it is to store an old value there, and the parameter that leads there, where one does.

    ``forwarded`` where callers find it (a parameter, a member), ``argument`` for a reference that a lambda is given,
    ``value`` for a global; empty for what is local, and for what is none of these as far as this source tells.
    """
    function = unit.function(left)
    if function is None:
        return "", ""
    if left.type == "field_expression" and unit.text(left).startswith("this->"):
        return "forwarded", ""
    root = memory.base(left, unit)
    if root is None:
        return "", ""
    name = unit.text(root)
    found = declarations.declared(root, name, unit)
    if found is None or found.kind == "member":
        return ("forwarded", "") if left == root and function.scope else ("", "")
    if found.kind == "global":
        return ("forwarded" if "__shared__" in found.prefix else "value", "") if left == root else ("", "")
    if found.node.type != "reference_declarator":
        return "", ""
    if found.kind == "argument":
        return ("argument", "") if left == root else ("", "")
    led = found.kind == "parameter" and _inside(left) and "__global__" not in function.qualifier
    return ("forwarded", name) if led else ("", "")


def _inside(left: Node) -> bool:
    """Whether a variable itself is stored in, or a member of it; not what it points to."""
    at: Node | None = left
    while at is not None and at.type == "field_expression":
        if any(child.type == "->" for child in at.children):
            return False
        at = at.child_by_field_name("argument")
    return at is not None and at.type == "identifier"
