"""Plain reads beside an atomic: threads that look at a cell to decide what they do, while others change it."""

from __future__ import annotations

import re

import tree_sitter

from d9mlint.kernels.judging import declarations, memory
from d9mlint.kernels.judging.around import identifiers
from d9mlint.kernels.judging.owners import ownership
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_BARRIER = re.compile(rb"sync|barrier", re.I)
_MAX_STORES = 200


def checked(atomic: Atomic, space: str) -> str:
    """The condition around an atomic that reads cells of the same array plainly and decides what is stored elsewhere.

    ``if (count[u] > 1) { atomicAdd(&count[u], -1); out[i] = u; }``: a thread may find the cell before or after others
    have changed it. Not where a barrier stands between, or one thread alone has the cell. Empty if there is none.
    """
    unit, function = atomic.unit, atomic.function
    address = atomic.arguments[0] if atomic.arguments else None
    base = memory.base(address, unit) if address is not None else None
    if atomic.inner or atomic.assembler or atomic.node is None or address is None or base is None or function is None:
        return ""
    name = unit.text(base)
    at: Node | None = atomic.node
    while at is not None and at != function.node and at.type != "lambda_expression":
        if at.type == "if_statement":
            condition = _decides(at, name, atomic.node, unit)
            if condition is not None:
                owned = ownership.owner(address, unit, function, space)
                return "" if owned else " ".join(unit.text(condition).split()).removeprefix("(").removesuffix(")")[:80]
        at = at.parent
    return ""


def _decides(statement: Node, name: str, call: Node, unit: Unit) -> Node | None:
    """The condition of an ``if`` that reads elements of the array, where the branch of the atomic stores in another."""
    condition, branch = statement.child_by_field_name("condition"), statement.child_by_field_name("consequence")
    if condition is None or branch is None or not branch.start_byte <= call.start_byte < branch.end_byte:
        return None
    if _BARRIER.search(unit.data, condition.end_byte, call.start_byte):
        return None
    reads = any(_element(one) for one in identifiers(condition, name, unit))
    return condition if reads and _stores(branch, name, unit) else None


def _element(node: Node) -> bool:
    """Whether what is read is an element, by no call."""
    parent = node.parent
    if parent is None or parent.type != "subscript_expression" or node != parent.child_by_field_name("argument"):
        return False
    outer = parent.parent
    return outer is None or outer.type not in ("pointer_expression", "argument_list")


def _stores(branch: Node, name: str, unit: Unit) -> bool:
    """Whether a statement assigns to elements of another array than the one of this name."""
    pending = [branch]
    for _ in range(_MAX_STORES):
        if not pending:
            break
        at = pending.pop()
        left = at.child_by_field_name("left") if at.type == "assignment_expression" else None
        root = memory.base(left, unit) if left is not None and left.type == "subscript_expression" else None
        if root is not None and unit.text(root) != name and not _local(root, unit):
            return True
        pending.extend(at.named_children)
    return False


def _local(root: Node, unit: Unit) -> bool:
    """Whether an array is one of the thread's own."""
    found = declarations.declared(root, unit.text(root), unit)
    if found is None or found.kind != "local" or found.value is not None:
        return False
    return memory.memory(root, unit) == "unknown"
