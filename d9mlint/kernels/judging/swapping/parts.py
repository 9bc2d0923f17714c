"""Compare-and-swap on a part of a word, such as a byte.

``if (byte_of(old) != compare) break; atomicCAS(p, old, old & ~mask | value);``
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import tree_sitter

from d9mlint.kernels.judging.swapping.guarded import leaves
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_MAX_NODES = 2_000
_MAX_STEPS = 8
_WORD = re.compile(r"[A-Za-z_]\w*")


def swapped(
    loop: Node, call: Node, value: Node, assigned: Mapping[str, list[Node]], old: frozenset[str], unit: Unit
) -> bool:
    """Whether a loop stores a given value in some bits of a word where these have the value that is compared.

    The other bits are stored as they were: of the part, it is a compare-and-swap.
    """
    return _merges(value, assigned, old, unit) and _compares(loop, call, old, unit)


def _merges(value: Node, assigned: Mapping[str, list[Node]], old: frozenset[str], unit: Unit) -> bool:
    """Whether a value is ``old & ~mask | other``, where the other does not come from the old one; or each of two is."""
    node = _meant(value, assigned, unit)
    if node.type == "conditional_expression":
        chosen = [node.child_by_field_name(side) for side in ("consequence", "alternative")]
        return all(one is not None and _merges(one, assigned, old, unit) for one in chosen)
    left, right = (node.child_by_field_name(side) for side in ("left", "right"))
    if left is None or right is None or _operator(node) != "|":
        return False
    for kept, other in ((left, right), (right, left)):
        masked = _meant(kept, assigned, unit)
        if _operator(masked) == "&" and _words(masked, unit) & old and not _words(other, unit) & old:
            return True
    return False


def _compares(loop: Node, call: Node, old: frozenset[str], unit: Unit) -> bool:
    """Whether the loop is left before the swap where a part of the old value is not what is asked for."""
    pending = [loop]
    for _ in range(_MAX_NODES):
        if not pending:
            return False
        node = pending.pop()
        pending.extend(node.named_children)
        consequence = node.child_by_field_name("consequence") if node.type == "if_statement" else None
        if consequence is None or node.end_byte > call.start_byte or not leaves(consequence):
            continue
        test = node.child_by_field_name("condition")
        while test is not None and test.type in ("condition_clause", "parenthesized_expression"):
            test = test.named_children[-1] if test.named_children else None
        sides = [test.child_by_field_name(side) for side in ("left", "right")] if test is not None else []
        olds = [bool(_words(side, unit) & old) for side in sides if side is not None]
        if test is not None and _operator(test) == "!=" and sorted(olds) == [False, True]:
            return True
    return False


def _meant(node: Node, assigned: Mapping[str, list[Node]], unit: Unit) -> Node:
    """What a variable is set to in the loop, without parentheses around it."""
    at = node
    for _ in range(_MAX_STEPS):
        given = assigned.get(unit.text(at), []) if at.type == "identifier" else []
        if at.type == "parenthesized_expression" and at.named_children:
            at = at.named_children[0]
        elif len(given) == 1:
            at = given[0]
        else:
            break
    return at


def _operator(node: Node) -> str:
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    return operator.type if operator is not None else ""


def _words(node: Node, unit: Unit) -> frozenset[str]:
    return frozenset(_WORD.findall(unit.text(node)))
