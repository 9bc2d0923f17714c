"""Drafts of specifications for ``verify --kernels``: the kernels with sites that can vary, with guesses for arguments.

What is known is the signature; shapes, numbers and instantiations are guesses, each told, for a person to put right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import declarations
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Function, Unit
from d9mlint.model import KernelScan, Site
from d9mlint.model.kernel_launch import ELEMENTS, KernelLaunch, Operand

_ELEMENTS = 65_536
_MANY, _FEW, _CELLS = 4096, 8, 16
_BLOCK = 256
_NUMBER = re.compile(
    r"(?:n|N|size|count|total|num(?:el)?|n?threads|length|len|num_\w+|\w+_(?:size|count|num|len|length))\Z"
)
"""Names that say how many elements there are to go through."""
_QUALIFIERS = re.compile(r"\b(?:const|volatile|__restrict__|__restrict|restrict|struct|typename|extern)\b|[*&]")
_CXX = {"unsigned": "uint32", "unsigned int": "uint32", "long": "int64", "long long": "int64", "size_t": "uint64",
        "unsigned long long": "uint64", "unsigned long": "uint64", "unsigned char": "uint8", "char": "int8",
        "short": "int16", "int": "int32", "ptrdiff_t": "int64", "index_t": "int32"}  # fmt: skip
_DTYPES = {written: name for name, (written, _, _) in ELEMENTS.items()} | _CXX
_TYPED = re.compile(r"\b(?:typename|class)\s+(\w+)(?:\s*=\s*([\w: ]+))?|\b([\w: ]+?)\s+(\w+)(?:\s*=\s*(\w+))?\s*\Z")


class Draft(NamedTuple):
    """A launch as it is guessed, with what is to be looked at, by argument (empty: the whole)."""

    launch: KernelLaunch
    notes: tuple[tuple[str, str], ...]


def drafts(scan: KernelScan, repository: Repository) -> list[Draft]:
    """A draft for each kernel with a site that can vary, in the order of the sites."""
    found: dict[tuple[str, int], Draft] = {}
    for site in scan.sites:
        unit = repository.unit(site.location.path) if site.can_vary and site.qualifier == "__global__" else None
        function = _around(unit, site) if unit is not None else None
        if unit is not None and function is not None:
            key = site.location.path, function.node.start_byte
            if key not in found:
                found[key] = _draft(unit, function, site)
    return list(found.values())


def _around(unit: Unit, site: Site) -> Function | None:
    rows = unit.data.split(b"\n", site.location.line)
    at = sum(len(row) + 1 for row in rows[: site.location.line - 1]) + site.location.column - 1
    node = unit.root.descendant_for_byte_range(at, at + 1)
    return unit.function(node) if node is not None else None


def _draft(unit: Unit, function: Function, site: Site) -> Draft:
    types, template, notes = _template(unit, function, site)
    listed = []
    for node in declarations.parameters(function.node):
        one, note = _operand(unit, node, types)
        listed.append(one)
        notes += [(one.name, note)] if note else []
    name = "::".join([*_scopes(unit, function.node), function.name])
    launch = KernelLaunch(
        name=name, kernel=name, source=unit.path, template=tuple(template), grid=(_MANY // _BLOCK,), block=(_BLOCK,),
        arguments=tuple(listed),
    )  # fmt: skip
    if not any(one.output for one in listed):
        notes.append(("", "no argument was taken for an output: say `output: true` of the buffer that is written"))
    return Draft(launch, tuple(notes))


def _template(unit: Unit, function: Function, site: Site) -> tuple[dict[str, str], list[str], list[tuple[str, str]]]:
    """What each type parameter stands for, the arguments of the template, and what is guessed of them."""
    above = function.node.parent
    listed = (
        above.child_by_field_name("parameters") if above is not None and above.type == "template_declaration" else None
    )
    types: dict[str, str] = {}
    given: list[str] = []
    for node in listed.named_children if listed is not None else ():
        match = _TYPED.search(unit.text(node))
        if match is None:
            continue
        if match[1]:
            seen = re.search(rf"\b{re.escape(match[1])} = ([\w: ]+)", site.target_type)
            types[match[1]] = (seen[1] if seen is not None else match[2] or "float").strip()
            given.append(types[match[1]])
        elif match[3]:
            given.append(match[5] or ("true" if match[3].strip() == "bool" else str(_FEW)))
    notes = [("", f"a guess: template arguments {', '.join(given)}")] if given else []
    return types, given, notes


def _operand(unit: Unit, node: tree_sitter.Node, types: dict[str, str]) -> tuple[Operand, str]:
    """One parameter, and what is guessed of it."""
    declarator = node.child_by_field_name("declarator")
    named = declarations.named(declarator, unit) if declarator is not None else None
    name = named[0] if named is not None else f"argument_{node.start_byte}"
    text = unit.text(node)
    places = list(re.finditer(rf"\b{re.escape(name)}\b", text))
    written = text[: places[-1].start()] if places else text
    bare = " ".join(_QUALIFIERS.sub(" ", written).replace("std::", "").split())
    bare = types.get(bare, bare)
    dtype = _DTYPES.get(bare, bare if bare in ELEMENTS else "")
    pointer = "*" in written or (named is not None and named[1] > 0)
    if not dtype:
        return Operand(name, code=f"TODO_{name}"), f"`{bare}` is for you to write, as C++ over the buffers"
    if not pointer:
        number = _MANY if _NUMBER.match(name) else _FEW
        value: int | float | bool = number if ELEMENTS[dtype][1] == "WHOLE" else True if dtype == "bool" else 1.0
        return Operand(name, dtype, value=value), "a guess"
    if "const" not in written:
        return Operand(name, dtype, (_ELEMENTS,), "zeros", output=True), ""
    if ELEMENTS[dtype][1] == "WHOLE" and dtype != "bool":
        return Operand(name, dtype, (_ELEMENTS,), "index", high=_CELLS), "a guess: indices below 16, so that many meet"
    return Operand(name, dtype, (_ELEMENTS,), "normal"), ""


def _scopes(unit: Unit, node: tree_sitter.Node) -> list[str]:
    return list(_namespaces(unit, node))[::-1]


def _namespaces(unit: Unit, node: tree_sitter.Node) -> Iterator[str]:
    at = node.parent
    while at is not None:
        if at.type == "namespace_definition" and (name := at.child_by_field_name("name")) is not None:
            yield unit.text(name)
        at = at.parent
