"""From a name in the bytes of a source to the call it stands in."""

from __future__ import annotations

import re
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.sites.names import TAGGED
from d9mlint.kernels.source.lexical import arguments
from d9mlint.kernels.source.unit import Function, Unit, parsed

_NAME_TYPES = ("identifier", "field_identifier", "type_identifier", "namespace_identifier", "statement_identifier")
_NAME_PARENTS = ("qualified_identifier", "template_function", "template_method", "template_type", "dependent_name")
_UNEVALUATED = ("decltype", "sizeof_expression", "noexcept", "alignof_expression", "trailing_return_type")
_AFTER_NAME = re.compile(rb"\s*(?:<[^<>;{}()]{0,200}>\s*)?(\(|<<<)")
# What stands before the name of a function that is declared, not called: a type.
_TYPE_BEFORE = re.compile(rb"(\w+|[*&>])\s*(?:\w+\s*::\s*)*$")
_NO_TYPE = (b"return", b"else", b"do", b"case", b"throw", b"co_return", b"and", b"or", b"not", b"typeof", b"sizeof")

_DEVICE_FIRST = ("alpaka",)
"""``alpaka::atomicAdd(acc, &x, value)``: https://alpaka.readthedocs.io/en/latest/basic/cheatsheet.html."""


class Call(NamedTuple):
    """A call: where its name starts (``start``) and the call itself, in the unit that holds its tree.

    ``unit`` is the file's, or that of the call alone where the file's tree is broken at this place; ``function`` is
    always that of the file.
    """

    start: int
    end: int
    unit: Unit
    node: tree_sitter.Node
    function: Function | None
    name: str
    scopes: tuple[str, ...]
    """``a::B<T>::f(x)``: ``("a", "B")``."""
    receiver: tree_sitter.Node | None
    """``x`` in ``x.f()``, ``x->f()``."""

    @property
    def arguments(self) -> tuple[tree_sitter.Node, ...]:
        """What is passed, without comments, and without the device of alpaka's functions."""
        passed = self.node.child_by_field_name("arguments")
        given = tuple(n for n in passed.named_children if n.type != "comment") if passed is not None else ()
        device = self.scopes[:1] == _DEVICE_FIRST and self.name.startswith("atomic")
        device = device or (self.name in TAGGED and bool(template_arguments(self)))
        return given[1:] if device else given


def name_node(unit: Unit, start: int, end: int) -> tree_sitter.Node | None:
    """The node that is exactly this name; None in comments, strings, directives and masked text."""
    node = unit.root.descendant_for_byte_range(start, end)
    if node is None or node.start_byte != start or node.end_byte != end or node.type not in _NAME_TYPES:
        return None
    return node


def call_at(unit: Unit, start: int, word: bytes) -> Call | None:
    """The call of the function whose name stands at ``start``; None where the name is no call."""
    node = name_node(unit, start, start + len(word))
    if node is None:
        return None
    full = full_name(node)
    parent = full.parent
    if parent is not None and parent.type == "call_expression" and _is(parent.child_by_field_name("function"), full):
        if _launched(unit, node) or _unevaluated(parent):
            return None
        return _call(unit, parent, unit.function(parent), start, word)
    if parent is not None and parent.type == "field_expression":
        outer = parent.parent
        if outer is None or outer.type != "call_expression" or not _is(outer.child_by_field_name("function"), parent):
            return None
        return _call(unit, outer, unit.function(outer), start, word)
    return _broken(unit, full, start, word)


def call_of(unit: Unit, callee: tree_sitter.Node, start: int, name: str) -> Call | None:
    """The call whose function is this expression (an object with a call operator)."""
    parent = callee.parent
    if parent is None or parent.type != "call_expression" or not _is(parent.child_by_field_name("function"), callee):
        return None
    return Call(start, parent.end_byte, unit, parent, unit.function(parent), name, (), None)


def _is(node: tree_sitter.Node | None, other: tree_sitter.Node) -> bool:
    return node is not None and node.id == other.id


def full_name(node: tree_sitter.Node) -> tree_sitter.Node:
    """The qualified or template name that ends in this node."""
    parent = node.parent
    while parent is not None and parent.type in _NAME_PARENTS:
        last = parent.child_by_field_name("name")
        if parent.type != "dependent_name" and not _is(last, node):
            break
        node, parent = parent, parent.parent
    return node


def _launched(unit: Unit, node: tree_sitter.Node) -> bool:
    """Whether a launch configuration (masked in the tree) follows: a kernel, however it is called."""
    after = _AFTER_NAME.match(unit.data, node.end_byte, node.end_byte + 400)
    return after is not None and after[1] == b"<<<"


def _unevaluated(node: tree_sitter.Node) -> bool:
    """Whether the call is never made: in ``decltype(f(x))``, ``sizeof(f(x))``."""
    at = node.parent
    while at is not None and not at.type.endswith(("statement", "definition", "declaration")):
        if at.type in _UNEVALUATED:
            return True
        at = at.parent
    return False


def _call(unit: Unit, node: tree_sitter.Node, function: Function | None, start: int, word: bytes) -> Call | None:
    named = node.child_by_field_name("function")
    receiver = None
    scopes: list[str] = []
    if named is not None and named.type == "field_expression":
        receiver = named.child_by_field_name("argument")
    while named is not None and named.type == "qualified_identifier":
        scope = named.child_by_field_name("scope")
        if scope is not None:
            scopes.append(unit.text(scope).split("<", 1)[0].strip())
        named = named.child_by_field_name("name")
    name = word.decode("ascii", "replace")
    return Call(start, node.end_byte, unit, node, function, name, tuple(scopes), receiver)


def template_arguments(call: Call) -> list[str]:
    """What a call gives its template: ``["A", "B::C"]`` of ``f<A, B::C>(x)``."""
    named = call.node.child_by_field_name("function")
    while named is not None and named.type == "qualified_identifier":
        named = named.child_by_field_name("name")
    given = named.child_by_field_name("arguments") if named is not None and named.type == "template_function" else None
    return [call.unit.text(one) for one in given.named_children] if given is not None else []


def _broken(unit: Unit, node: tree_sitter.Node, start: int, word: bytes) -> Call | None:
    """The call read alone, where the tree around it is broken (a macro's argument at namespace level ...)."""
    after = _AFTER_NAME.match(unit.data, start + len(word), start + len(word) + 400)
    if after is None or after[1] != b"(" or declared(unit, node):
        return None
    read = arguments(unit.data, after.end() - 1)
    if read is None:
        return None
    begin = node.start_byte if node.end_byte <= read[1] else start
    place = unit.span(begin, begin)
    piece = parsed(unit.path, unit.data[begin : read[1]] + b";", (place.line, place.column), hidden=unit.hidden)
    found = piece.root.descendant_for_byte_range(start - begin, start - begin + len(word))
    while found is not None and found.type != "call_expression":
        found = found.parent
    return _call(piece, found, unit.function(node), start - begin, word) if found is not None else None


def declared(unit: Unit, node: tree_sitter.Node) -> bool:
    """Whether this is the name of a function that is declared or defined here."""
    at: tree_sitter.Node | None = node
    while at is not None and at.type not in ("function_declarator", "parameter_declaration", "compound_statement"):
        at = at.parent
    if at is None or at.type != "function_declarator":
        return False
    parent = at.parent
    while parent is not None and parent.type.endswith("_declarator"):
        parent = parent.parent
    if parent is not None and parent.type in ("declaration", "function_definition", "field_declaration"):
        return True
    before = _TYPE_BEFORE.search(unit.data, max(0, node.start_byte - 200), node.start_byte)
    return before is not None and before[1] not in _NO_TYPE
