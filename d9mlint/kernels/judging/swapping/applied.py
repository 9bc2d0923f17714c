"""What a function computes that an atomic is handed: a lambda, an object with a call operator, one of a library."""

from __future__ import annotations

import re

import tree_sitter

from d9mlint.kernels.judging import classes, declarations
from d9mlint.kernels.judging.known.scalars import kind, plain, short
from d9mlint.kernels.judging.swapping import casloops
from d9mlint.kernels.judging.types import nearby
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_LIBRARY = {
    "plus": "add", "Sum": "add", "minus": "sub", "multiplies": "mul", "divides": "div", "minimum": "min", "Min": "min",
    "maximum": "max", "Max": "max", "bit_and": "and", "bit_or": "or", "bit_xor": "xor",
}  # fmt: skip
"""Function objects of the C++ library and libcu++ ([functional.syn]), Thrust, CUB (cub/thread/thread_operators.cuh)."""
_CALL = "operator()"
_MADE = ("compound_literal_expression", "call_expression", "lambda_expression")
_FUNCTIONS = ("template_function", "qualified_identifier")
_OBJECTS = (*_MADE, *_FUNCTIONS, "identifier")


def given(atomic: Atomic, repository: Repository) -> str:
    """The operation of a function among the arguments of a call, also those of its template; empty if unclear."""
    objects = (node for node in atomic.arguments[1:] if node.type in _OBJECTS)
    found = (computed(node, atomic.unit, repository) for node in objects)
    return next((word for word in found if word), "") or _by_template(atomic, repository)


def computed(node: Node, unit: Unit, repository: Repository) -> str:
    """The operation of a function object: ``DeviceMax{}``, ``op`` for a variable ``DeviceMax op``; empty if unclear.

    Also that of a function: ``smaller<double>``.
    """
    if node.type in _FUNCTIONS:
        return _of_function(unit.text(node), unit, repository)
    if node.type == "lambda_expression":
        return casloops.of_lambda(node, unit)
    if node.type == "identifier":
        found = declarations.declared(node, unit.text(node), unit)
        if found is None:
            return _of_function(unit.text(node), unit, repository)
        if found.depth:
            return ""
        if found.value is not None and plain(found.type) == "auto":
            return computed(found.value, unit, repository) if found.value.type in _MADE else ""
        return of_class(found.type, node, unit, repository)
    made = node.child_by_field_name("type") or node.child_by_field_name("function")
    return of_class(unit.text(made), node, unit, repository) if made is not None else ""


def of_class(written: str, place: Node, unit: Unit, repository: Repository) -> str:
    """The operation of the call operator of a class, where all that it has agree; empty if unclear."""
    name = short(re.sub(r"<.*", "", plain(written), flags=re.DOTALL))
    if kind(name) or not name.isidentifier() or declarations.template_parameter(place, name, unit) is not None:
        return ""
    return repository.derived(_operator, f"{name}\0{unit.path}")


def _operator(repository: Repository, key: str) -> str:
    """What the call operator of a class computes, for the name of the class and the file that names it."""
    name, _, path = key.partition("\0")
    unit = repository.unit(path)
    for holder in nearby.units(unit, repository, name) if unit is not None else ():
        operators = [f for f in holder.functions() if f.name == _CALL and f.scope == name]
        if operators:
            words = {casloops.of_lambda(f.node, holder) for f in operators}
            return words.pop() if len(words) == 1 else ""
        if classes.structures(holder, name):
            return ""
    return _LIBRARY.get(name, "")


def _of_function(written: str, unit: Unit, repository: Repository) -> str:
    """The operation of a function by its name, where all that bear it agree; empty if unclear."""
    name = re.sub(r"<.*", "", written, flags=re.DOTALL).rpartition("::")[2].strip()
    return repository.derived(_function, f"{name}\0{unit.path}") if name.isidentifier() else ""


def _function(repository: Repository, key: str) -> str:
    """What the functions of a name compute, as the file that names them sees it."""
    name, _, path = key.partition("\0")
    unit = repository.unit(path)
    for holder in nearby.units(unit, repository, name) if unit is not None else ():
        words = {casloops.of_lambda(f.node, holder) for f in holder.functions() if f.name == name and not f.scope}
        if words:
            return words.pop() if len(words) == 1 else ""
    return ""


def _by_template(atomic: Atomic, repository: Repository) -> str:
    """``atomic_apply<DeviceMax>(p, x)``."""
    called = atomic.node.child_by_field_name("function") if atomic.node is not None else None
    while called is not None and called.type in ("qualified_identifier", "field_expression"):
        called = called.child_by_field_name("name") or called.child_by_field_name("field")
    listed = called.child_by_field_name("arguments") if called is not None else None
    types = [n for n in listed.named_children if n.type == "type_descriptor"] if listed is not None else []
    found = (of_class(atomic.unit.text(node), node, atomic.unit, repository) for node in types)
    return next((word for word in found if word), "")
