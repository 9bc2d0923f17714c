"""Cures by statements at the place of a finding: one less, one more in a loop, one that runs on another device."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from d9mlint.fix import remedies
from d9mlint.fix.place import Need, Place
from d9mlint.fix.tree import Tree, at_start, end, span, start
from d9mlint.model import Edit, Location

_FREE = ("dirs", "folders", "subfolders")
"""Names for the folders of a walk that a program throws away."""


def deleted(_: object, place: Place) -> Iterator[Edit | Need]:
    """The statement is left out; ``pass`` stands for the only one of a block."""
    found, of = place.statement, place.tree
    if found is None or of is None or not isinstance(found.node, cst.SimpleStatementLine) or len(found.node.body) != 1:
        return
    at = span(place.path, found.where)
    if len(found.block.body) == 1 or at.end_line == len(of.lines):
        yield Edit(at, "pass")
    else:
        yield Edit(Location(place.path, at.line, 1, at.end_line + 1, 1), "")


def walked(place: Place) -> Iterator[Edit | Need]:
    """A walk through folders: these, and the files in each, are put in order before they are gone through."""
    of, found = place.tree, place.statement
    call = of.call(place.at) if of is not None else None
    if of is None or found is None or call is None:
        return
    if isinstance(found.node, cst.For) and found.node.iter is call:
        yield from _in_loop(place, of, found.node)
        return
    for node in of.positions:
        if isinstance(node, cst.CompFor) and node.iter is call:
            yield from _wrapped(place.at)
            names, inner = _names(node.target), node.inner_for_in
            while inner is not None:
                if len(names) > 2 and names[2] is not None and of.code(inner.iter).strip() == names[2].value:
                    yield from _wrapped(span(place.path, of.positions[inner.iter]))
                inner = inner.inner_for_in


def _in_loop(place: Place, of: Tree, loop: cst.For) -> Iterator[Edit]:
    """What a loop over a walk is given is put in order at the start of its body."""
    names = [*_names(loop.target), None, None, None]
    folders, files = names[1], names[2]
    lines = [f"{files.value}.sort()"] if files is not None and files.value != "_" else []
    named: list[Edit] = []
    if folders is not None:
        free = next((one for one in _FREE if not re.search(rf"\b{one}\b".encode(), place.source)), "")
        name = free if folders.value == "_" else folders.value
        lines[:0] = [f"{name}.sort()"] if name else []
        named = [Edit(span(place.path, of.positions[folders]), name)] if name not in ("", folders.value) else []
    edit = at_start(place.path, of, loop.body, f"\n{_indent_of(of, loop.body)}".join(lines)) if lines else None
    yield from [*named, edit] if edit is not None else []


def _wrapped(at: Location) -> Iterator[Edit]:
    yield from (Edit(start(at), "sorted("), Edit(end(at), ")"))


def _names(target: cst.BaseExpression) -> list[cst.Name | None]:
    """The names that a loop binds, None for what is no name."""
    elements = target.elements if isinstance(target, cst.Tuple) else ()
    return [one.value if isinstance(one.value, cst.Name) else None for one in elements]


def _indent_of(of: Tree, body: cst.BaseSuite) -> str:
    return of.indent(of.positions[body.body[0]].start.line) if body.body else ""


def is_entered(place: Place) -> bool:
    """Whether a call is what a ``with`` enters."""
    of = place.tree
    call = of.call(place.at) if of is not None else None
    return of is not None and any(isinstance(node, cst.WithItem) and node.item is call for node in of.positions)


def on_device(_: object, place: Place) -> Iterator[Edit | Need]:
    """The statement runs under the device that the remedy names."""
    found, of, device = place.statement, place.tree, remedies.device(place.found.remedy)
    if not device or found is None or of is None or not isinstance(found.node, cst.SimpleStatementLine):
        return
    call = of.call(place.at)
    name = of.code(call.func).rpartition(".")[2] if call is not None else ""
    if name[:1].isupper():  # (where a layer is made does not say where it computes)
        return
    if any("\n" in of.code(node) for node in _strings(found.node)):
        return  # (text would be moved)
    first, last = found.where.start, found.where.end.line
    indent, step = of.indent(first.line), of.module.default_indent
    at = Location(place.path, first.line, first.column + 1, first.line, first.column + 1)
    yield Edit(at, f"with {place.known(device)}:\n{indent}{step}")
    for line in range(first.line + 1, last + 1):
        if of.lines[line - 1].strip():
            yield Edit(Location(place.path, line, 1, line, 1), step)
    yield from (Need(place.path, root) for root in remedies.roots(device))


def _strings(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, (cst.SimpleString, cst.FormattedString)):
        yield node
    for child in node.children:
        yield from _strings(child)
