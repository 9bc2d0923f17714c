"""Compare-and-swap loops that store a value only where it is larger, or smaller: a max or min, by the test around it.

``if (old >= value) break; old = atomicCAS(p, assumed, value);`` and ``while (value > old) old = atomicCAS(...)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_ORDERED = ("<", "<=", ">", ">=")
_LEAVES = ("break_statement", "return_statement")
_MAX_NODES = 2_000
_WORD = re.compile(r"[A-Za-z_]\w*")


def extreme(loop: Node, call: Node, old: frozenset[str], stored: frozenset[str], unit: Unit) -> str:
    """``min`` or ``max`` where tests in a loop let the swap happen only for smaller or larger values; else empty."""
    found = {side for test, leaves in _tests(loop, call) if (side := _stores(test, leaves, old, stored, unit))}
    return found.pop() if len(found) == 1 else ""


def _tests(loop: Node, call: Node) -> Iterator[tuple[Node, bool]]:
    """The comparisons in front of a swap: of the loop and around the swap (False), of those that leave it (True)."""
    condition = loop.child_by_field_name("condition")
    if loop.type == "while_statement" and condition is not None:
        yield from ((test, False) for test in _comparisons(condition))
    pending = [loop]
    for _ in range(_MAX_NODES):
        if not pending:
            return
        node = pending.pop()
        pending.extend(node.named_children)
        if node.type != "if_statement":
            continue
        condition = node.child_by_field_name("condition")
        consequence = node.child_by_field_name("consequence")
        if condition is None or consequence is None or node.child_by_field_name("alternative") is not None:
            continue
        holds = consequence.start_byte <= call.start_byte < consequence.end_byte
        if holds or (node.end_byte <= call.start_byte and leaves(consequence)):
            yield from ((test, not holds) for test in _comparisons(condition))


def leaves(node: Node) -> bool:
    """Whether a statement, or the last one of a block, leaves the loop."""
    last = node.named_children[-1] if node.type == "compound_statement" and node.named_children else node
    return last.type in _LEAVES


def _comparisons(condition: Node) -> Iterator[Node]:
    """The comparison that a condition is, or the parts of one that must all hold."""
    node = condition
    while node.type in ("condition_clause", "parenthesized_expression") and node.named_children:
        node = node.named_children[-1]
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    if operator is not None and operator.type in _ORDERED:
        yield node


def _stores(test: Node, leaves: bool, old: frozenset[str], stored: frozenset[str], unit: Unit) -> str:
    """What is stored where the test lets it: the larger or the smaller; empty for other comparisons."""
    left, right = (_words(test.child_by_field_name(side), unit) for side in ("left", "right"))
    operator = test.child_by_field_name("operator")
    if operator is None or not old or not stored:
        return ""
    larger = operator.type in (">", ">=")
    if left & old and right & stored and not left & stored and not right & old:
        larger = not larger  # `old > value` is `value < old`
    elif not (left & stored and right & old) or left & old or right & stored:
        return ""
    return "max" if larger != leaves else "min"


def _words(node: Node | None, unit: Unit) -> frozenset[str]:
    return frozenset(_WORD.findall(unit.text(node))) if node is not None else frozenset()
