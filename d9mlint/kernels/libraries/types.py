"""What is at the end of an iterator or pointer that a library call is given: floating-point numbers or integers."""

from __future__ import annotations

import re
from typing import NamedTuple

from tree_sitter import Node

from d9mlint.kernels.judging.known.scalars import element, kind
from d9mlint.kernels.judging.types.expressions import type_of
from d9mlint.kernels.judging.types.instantiations import bound
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Unit

_TRANSPARENT = re.compile(
    r"(?:\w+::)*(?:device_pointer_cast|raw_pointer_cast|make_constant_iterator|constant_iterator|make_counting_iterator)$"
)
_METHODS = ("begin", "end", "cbegin", "cend", "rbegin", "data", "get")
_STEPS = 8
_BEFORE = 4000


class Elements(NamedTuple):
    """The types of the elements, and whether some are floating point, integers, or not known."""

    names: tuple[str, ...]
    floats: bool
    integers: bool
    open: bool


def element_kinds(node: Node, unit: Unit, repository: Repository) -> Elements | None:
    """The elements that an argument leads to; None where nothing is known of its type."""
    name = _type_name(node, unit, repository)
    if not name:
        return None
    if kind(name):
        return _elements((name,), False)
    inner = element(name)
    if inner:
        name = inner
    known = bound(name, node, unit, repository)
    return _elements(known.types or (name,), known.open)


def _elements(names: tuple[str, ...], open_: bool) -> Elements:
    kinds = [kind(name) for name in names]
    return Elements(names, "float" in kinds, "integer" in kinds, open_ or "" in kinds)


def _type_name(node: Node, unit: Unit, repository: Repository) -> str:
    at = _source(node, unit)
    found = type_of(at, unit, repository)
    if found is not None or at.type != "identifier":
        return found.name if found is not None else ""
    # `device_vector<T> v(n);` reads like the declaration of a function: look for it in the text before.
    before = unit.data[max(0, at.start_byte - _BEFORE) : at.start_byte].decode("utf-8", "replace")
    declared = re.findall(rf"_vector<\s*([\w:]+(?: \w+)*)\s*>\s*[&*]?\s*{re.escape(unit.text(at))}\b", before)
    return declared[-1] if declared else ""


def _source(node: Node, unit: Unit) -> Node:
    """The container or pointer behind ``v.begin() + n``, ``thrust::device_pointer_cast(p)``, ``&v[0]``."""
    for _ in range(_STEPS):
        if node.type == "binary_expression":
            inner = node.child_by_field_name("left")
        elif node.type == "call_expression":
            inner = _called_on(node, unit)
        else:
            return node
        if inner is None:
            return node
        node = inner
    return node


def _called_on(node: Node, unit: Unit) -> Node | None:
    called = node.child_by_field_name("function")
    if called is None:
        return None
    if called.type == "field_expression":
        field = called.child_by_field_name("field")
        if field is not None and unit.text(field) in _METHODS:
            return called.child_by_field_name("argument")
        return None
    arguments = node.child_by_field_name("arguments")
    if arguments is not None and arguments.named_children and _TRANSPARENT.match(unit.text(called)):
        return arguments.named_children[0]
    return None
