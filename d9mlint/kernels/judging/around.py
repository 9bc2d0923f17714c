"""What stands around a use of a value: its block, a loop that it may end or wait in, a place that is stored at."""

from __future__ import annotations

import re

import tree_sitter

from d9mlint.kernels.judging import declarations
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*", re.DOTALL | re.MULTILINE)
_IDLE = re.compile(r"sleep|fence|yield|pause|relax|\bif\b|clock|assert", re.IGNORECASE)
_ASSERTS = re.compile(r"(?:\A|_)assert\Z|Assert\Z|\A[A-Z_]*ASSERT(?:_[A-Z]+)?\Z|\A(?:\w+_)?D?CHECK(?:_[A-Z]+)?\Z")
LOOPS = ("while_statement", "do_statement", "for_statement")
_BLOCKS = (
    "compound_statement", "if_statement", "for_range_loop", "lambda_expression", "function_definition", *LOOPS
)  # fmt: skip
"""What a local variable is seen in."""
_PARTS = ("subscript_expression", "field_expression", "parenthesized_expression")


def above(node: Node, types: tuple[str, ...]) -> Node | None:
    """The nearest node of some types above a node."""
    at = node.parent
    while at is not None and at.type not in types:
        at = at.parent
    return at


def scope(name: str, node: Node, unit: Unit) -> Node:
    """Where a variable is seen that a local declaration makes, else the function around."""
    found = declarations.declared(node, name, unit)
    local = found is not None and found.kind in ("local", "range", "argument")
    block = above(found.node, _BLOCKS) if found is not None and local else None
    function = unit.function(node)
    return block or (function.node if function is not None else unit.root)


def identifiers(root: Node, name: str, unit: Unit) -> list[Node]:
    """The identifiers of a name below a node, in order."""
    wanted = name.encode()
    found: list[Node] = []
    pending = [root]
    while pending:
        node = pending.pop()
        if wanted not in unit.data[node.start_byte : node.end_byte]:
            continue
        if node.type == "identifier" and unit.data[node.start_byte : node.end_byte] == wanted:
            found.append(node)
        pending.extend(reversed(node.named_children))
    return found


def arguments(call: Node) -> list[Node]:
    """The arguments of a call."""
    listed = call.child_by_field_name("arguments")
    return [one for one in listed.named_children if one.type != "comment"] if listed is not None else []


def argument(call: Node, node: Node) -> int:
    """Which argument of a call a node is, or stands in; -1 for none."""
    given = enumerate(arguments(call))
    within = (at for at, one in given if one.start_byte <= node.start_byte and node.end_byte <= one.end_byte)
    return next(within, -1)


def asserted(node: Node, unit: Unit) -> bool:
    """Whether a value is only checked: an assertion stops the program, or does nothing."""
    call = above(node, ("call_expression", *_BLOCKS))
    while call is not None and call.type == "call_expression":
        called = call.child_by_field_name("function")
        if called is not None and _ASSERTS.search(unit.text(called)):
            return True
        call = above(call, ("call_expression", *_BLOCKS))
    return False


def stored_at(node: Node) -> bool:
    """Whether a place, or a part of it, is assigned to."""
    at = node.parent if node.type == "subscript_argument_list" else node
    outer = at.parent if at is not None else None
    while at is not None and outer is not None and outer.type in _PARTS:
        if at != outer.child_by_field_name("argument") and outer.type != "parenthesized_expression":
            return False
        at, outer = outer, outer.parent
    return outer is not None and outer.type == "assignment_expression" and at == outer.child_by_field_name("left")


def may_end_loop(comparison: Node) -> bool:
    """Whether a comparison may end a loop: not where it is the condition of an ``if`` that leaves nothing."""
    at = comparison.parent
    while at is not None and at.type in (
        "parenthesized_expression", "condition_clause", "binary_expression", "unary_expression"
    ):  # fmt: skip
        at = at.parent
    return at is None or at.type != "if_statement" or may_leave(at)


def may_leave(node: Node) -> bool:
    """Whether a statement holds one, anywhere, that leaves a loop."""
    pending = [node]
    while pending:
        at = pending.pop()
        if at.type in ("break_statement", "return_statement", "goto_statement", "continue_statement"):
            return True
        pending.extend(at.named_children)
    return False


def waits_idly(node: Node, unit: Unit) -> bool:
    """Whether a comparison is part of the condition of a loop that does nothing else: ``while (all && x == old)``."""
    at = node.parent
    while at is not None and at.type in ("parenthesized_expression", "condition_clause", "binary_expression"):
        operator = at.child_by_field_name("operator")
        if operator is not None and operator.type != "&&":
            return False
        at = at.parent
    body = at.child_by_field_name("body") if at is not None and at.type in ("while_statement", "do_statement") else None
    if body is None:
        return False
    text = _NO_CODE.sub("", unit.text(body))
    stores = re.search(r"[\])]\s*[-+*/|&^]?=(?!=)|\btom|tomic", text)
    return stores is None and all(_IDLE.search(name) for name in re.findall(r"(\w+)\s*\(", text))


def waits(node: Node) -> bool:
    """Whether a comparison is the condition of a loop."""
    at = node.parent
    while at is not None and at.type in ("parenthesized_expression", "condition_clause", "unary_expression"):
        at = at.parent
    if at is not None and at.type == "for_statement":
        return True
    return at is not None and at.type in ("while_statement", "do_statement")


def begin(defined: Node) -> int:
    """Where the value of a variable can be read: a loop comes back to what stands before, unless it is declared new."""
    at = defined.parent
    start = defined.start_byte
    while at is not None and at.type not in ("function_definition", "lambda_expression", "init_declarator"):
        if at.type in LOOPS:
            start = at.start_byte
        at = at.parent
    return start


def overwritten(node: Node) -> bool:
    """Whether a variable gets another value here."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "assignment_expression":
        return node == parent.child_by_field_name("left") and parent.children[1].type == "="
    return parent.type in ("init_declarator", "declaration") and node == parent.child_by_field_name("declarator")


def element(node: Node) -> Node:
    """``*base`` and ``slots[0]`` for the variable in them: what is read is the element."""
    parent = node.parent
    if parent is None or node != parent.child_by_field_name("argument"):
        return node
    read = parent.type == "pointer_expression" and parent.children[0].type == "*"
    return parent if read or parent.type == "subscript_expression" else node
