"""Atomics that an enumerator chooses: ``copy.template Run<A, B, MemoryOperation::AtomicAdd>(...)``.

Some function compares its parameter with the enumerator and calls an atomic where they agree (``if constexpr (Op ==
MemoryOperation::AtomicAdd) { this->AtomicAdd(i, x); }``); a kernel that gives the enumerator to a template chooses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import tree_sitter

from d9mlint.kernels.sites import wrappers
from d9mlint.kernels.sites.calls import Call
from d9mlint.kernels.sites.sightings import Knowledge, Sighting
from d9mlint.kernels.sites.wrappers import Definition
from d9mlint.kernels.source.lexical import in_line_comment
from d9mlint.kernels.source.unit import Unit

_ENUMERATOR = rb"(?:\w+\s*::\s*)*?(\w+)\s*::\s*([aA]tomic_?(?:[aA]dd|[mM]ax|[mM]in))\b"
_COMPARED = re.compile(rb"==\s*" + _ENUMERATOR)
_GIVEN = re.compile(rb"[<,]\s*(" + _ENUMERATOR + rb")\s*(?=[,>])")
_HELD = (b"::Atomic", b"::atomic", b":: Atomic", b":: atomic")
_LISTS = ("argument_list", "template_argument_list", "template_parameter_list", "parameter_list")
_MAX_LEVELS = 40

Enumerator = tuple[bytes, bytes]


def note(known: Knowledge, paths: Iterable[str]) -> None:
    """Notes the places in kernels that choose an atomic so; ``paths`` are the files that name atomics."""
    held = [path for path in paths if any(mark in known.repository.data(path) for mark in _HELD)]
    compared = dict(_compared(known, held))
    for path in held if compared else ():
        unit = known.repository.unit(path)
        for start, meant, found in _given(unit, compared) if unit is not None else ():
            if (path, start) not in known.sightings:
                known.functor_calls[path, start] = meant
                known.add((path, start), found)


def _compared(known: Knowledge, paths: list[str]) -> Iterator[tuple[Enumerator, list[Definition]]]:
    """The enumerators that a parameter is compared with, each with the wrappers that are called where they agree."""
    by_path: dict[str, list[tuple[int, Sighting]]] = {}
    for (path, start), found in known.sightings.items():
        by_path.setdefault(path, []).append((start, found))
    for path in paths:
        data, unit = known.repository.data(path), None
        for match in _COMPARED.finditer(data) if path in by_path else ():
            unit = unit or known.repository.unit(path)
            branch = _branch(unit, match.start()) if unit is not None else None
            if branch is None:
                continue
            inside = [f.call for at, f in by_path[path] if branch.start_byte <= at < branch.end_byte and f.call]
            meant = [d for call in inside for d in wrappers.meant(call, path, known.definitions, known.repository)]
            if meant:
                yield (match[1], match[2]), list(dict.fromkeys(meant))


def _branch(unit: Unit, at: int) -> tree_sitter.Node | None:
    """What runs where a comparison holds."""
    node: tree_sitter.Node | None = unit.root.descendant_for_byte_range(at, at + 1)
    for _ in range(_MAX_LEVELS):
        if node is None or node.type == "if_statement":
            break
        node = node.parent
    return node.child_by_field_name("consequence") if node is not None and node.type == "if_statement" else None


def _given(
    unit: Unit, compared: Mapping[Enumerator, list[Definition]]
) -> Iterator[tuple[int, list[Definition], Sighting]]:
    """The places of a source that give a template one of the enumerators, in functions of the device.

    Each with the wrappers that the enumerator chooses.
    """
    for match in _GIVEN.finditer(unit.data):
        start, end = match.span(1)
        meant = compared.get((match[2], match[3]))
        if meant is None or in_line_comment(unit.data, start):
            continue
        node = unit.root.descendant_for_byte_range(start, end)
        function = unit.function(node) if node is not None else None
        if node is None or function is None or not unit.on_device(node) or not _in_template(node):
            continue
        name = f"{match[2].decode()}::{match[3].decode()}"
        call = Call(start, end, unit, node, function, name, (), None)
        place = unit.span(start, end)
        yield start, meant, Sighting(place, name, "", "device", "wrapper", unit, None, function, (), call)


def _in_template(node: tree_sitter.Node) -> bool:
    """Whether a node is in the arguments of a template, not in those of a call."""
    at: tree_sitter.Node | None = node
    for _ in range(_MAX_LEVELS):
        if at is None or at.type in _LISTS:
            break
        at = at.parent
    return at is not None and at.type == "template_argument_list"
