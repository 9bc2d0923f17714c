"""Classes that a source defines: where they stand, what they derive from, and what they declare."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import tree_sitter

from d9mlint.kernels.judging.declarations import STRUCTS, Declared, declaration, flat
from d9mlint.kernels.source import lexical
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_MAX_HEAD = 2_000
"""Bytes before the name of a class in which `struct` stands."""


def bases(body: Node, unit: Unit) -> Iterator[str]:
    """The base classes of a class, as written: ``Base<T, 3>``."""
    clause = next((c for c in body.named_children if c.type == "base_class_clause"), None)
    for child in clause.named_children if clause is not None else ():
        if child.type in ("type_identifier", "template_type", "qualified_identifier"):
            yield unit.text(child)


def structures(unit: Unit, name: str, place: Node | None = None, around: tuple[str, ...] = ()) -> list[Node]:
    """The definitions of structs, classes and unions of this name in a file, that which is seen from a place first.

    One inside of a function counts only if there is no other. ``around``: only those inside of classes of these names.
    """
    outside, local = _structures(unit, name)
    found = list(outside or (local if len(local) == 1 else ()))
    if around:
        found = [node for node in found if _part_of(node, around, unit)]
    return sorted(found, key=lambda node: -_around(node, place)) if place is not None and len(found) > 1 else found


@functools.lru_cache(maxsize=1024)
def _structures(unit: Unit, name: str) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Those outside of functions and those inside, each in order."""
    outside: list[Node] = []
    local: list[Node] = []
    data = unit.data
    if not any(word + name.encode() in data for word in (b"struct ", b"class ", b"::")) and b"union" not in data:
        return (), ()
    for place in lexical.word_places(data, name.encode()):
        head = data[max(0, place - _MAX_HEAD) : place]
        head = head[max(head.rfind(b";"), head.rfind(b"{"), head.rfind(b"}")) + 1 :]
        if not (b"struct" in head or b"class" in head or b"union" in head):
            continue
        at = unit.root.descendant_for_byte_range(place, place + 1)
        qualified = data[place - 2 : place] == b"::"  # ``struct Tracker::Cell {...};``
        while at is not None and (at.start_byte == place or qualified) and at.type not in STRUCTS:
            at = at.parent
        called = at.child_by_field_name("name") if at is not None and at.type in STRUCTS else None
        if at is None or called is None or not called.start_byte <= place < called.end_byte:
            continue
        if at.child_by_field_name("body") is None:
            continue
        if unit.text(called).partition("<")[0].rpartition("::")[2].strip() == name:
            (local if _in_function(at) else outside).append(at)
    return tuple(outside), tuple(local)


def _part_of(node: Node, names: tuple[str, ...], unit: Unit) -> bool:
    """Whether a class stands in those of some names, or is defined as a part of them: ``struct Outer::Cell {};``."""
    around: set[str] = set()
    at: Node | None = node
    while at is not None:
        called = at.child_by_field_name("name") if at.type in STRUCTS else None
        written = re.split(r"::|<", unit.text(called)) if called is not None else []
        around.update(written[:-1] if at == node else written)
        at = at.parent
    return around.issuperset(names)


def _in_function(node: Node) -> bool:
    at = node.parent
    while at is not None and at.type != "compound_statement":
        at = at.parent
    return at is not None


def _around(node: Node, place: Node) -> int:
    """The first byte of what a definition stands in where that holds a place, too; else 0."""
    at = node.parent
    while at is not None and not at.start_byte <= place.start_byte < at.end_byte:
        at = at.parent
    return at.start_byte if at is not None else 0


def member(struct: Node, name: str, unit: Unit) -> Declared | None:
    """A data member of a struct."""
    body = struct.child_by_field_name("body")
    for node in flat(list(body.named_children)) if body is not None else ():
        found = declaration(node, name, unit, "member")
        if found is not None:
            return found
    return None


def method(struct: Node, name: str, unit: Unit) -> tuple[str, Node] | None:
    """What a method of a class gives, as written, and where; None where it is not declared, or with ``auto``."""
    body = struct.child_by_field_name("body")
    for node in body.named_children if body is not None else ():
        at = node.named_children[-1] if node.type == "template_declaration" and node.named_children else node
        typed, declarator = at.child_by_field_name("type"), at.child_by_field_name("declarator")
        stars = ""
        while declarator is not None and declarator.type in ("pointer_declarator", "reference_declarator"):
            stars += "*" if declarator.type == "pointer_declarator" else ""
            declarator = declarator.child_by_field_name("declarator") or next(iter(declarator.named_children), None)
        named = declarator.child_by_field_name("declarator") if declarator is not None else None
        if declarator is None or declarator.type != "function_declarator" or named is None or typed is None:
            continue
        if unit.text(named) == name and unit.text(typed) != "auto":
            return unit.text(typed) + stars, node
    return None
