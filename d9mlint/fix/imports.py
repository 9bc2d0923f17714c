"""Where imports that a script lacks are put: as isort orders them, by section and name, where the file is in order.

Source: pycqa.github.io/isort (sections; ``import x`` before ``from x import y``, or both by name).
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import libcst as cst
from libcst.helpers import get_full_name_for_node

from d9mlint.fix import names
from d9mlint.fix.tree import Tree, end, span
from d9mlint.model import Edit, Location

_FUTURE, _STANDARD, _OTHERS, _OWN = range(4)
"""The sections: ``__future__``, what Python brings, what is installed, the modules of the project."""


class _Import(NamedTuple):
    """An import on a line of its own, and how it is sorted."""

    statement: cst.SimpleStatementLine
    section: int
    is_from: bool
    name: str


class _New(NamedTuple):
    """An import that is missing, and the one that it is put before or behind."""

    text: str
    section: int
    anchor: cst.CSTNode
    before: bool
    opens: bool
    """Whether it begins a section."""


def _order(new: _New) -> tuple[int, bool, str]:
    return new.section, new.text.startswith("from "), new.text


class Placed(NamedTuple):
    """The edits of imports, and what is put behind the last statement together with what else comes there."""

    edits: tuple[Edit, ...] = ()
    behind: str = ""


def placed(path: str, of: Tree, body: Sequence[cst.CSTNode], lacking: Iterable[str], own: Collection[str]) -> Placed:
    """Where the imports ``lacking`` go among the statements ``body``; ``own`` are the modules of the project."""
    runs = list(_runs(body, own))
    joined = {text: edit for text in lacking if (edit := _joined(path, of, body, text)) is not None}
    lacking = [text for text in lacking if text not in joined]
    by_anchor: dict[tuple[cst.CSTNode, bool], list[_New]] = {}
    for new in sorted((_new(text, runs, body[-1], own) for text in lacking), key=_order):
        by_anchor.setdefault((new.anchor, new.before), []).append(new)
    edits = list(joined.values())
    behind = ""
    for (anchor, before), group in by_anchor.items():
        if before:
            edits.append(_before(path, of, anchor, group))
        elif anchor is body[-1]:
            behind = _behind(group)
        else:
            line = of.positions[anchor].end.line
            last = len(of.lines[line - 1]) + 1
            edits.append(Edit(Location(path, line, last, line, last), _behind(group)))
    return Placed(tuple(edits), behind.removeprefix("\n"))


def _joined(path: str, of: Tree, body: Sequence[cst.CSTNode], text: str) -> Edit | None:
    """The edit that adds a name to the import of others from its module; None where there is none."""
    _, module, _, name = text.split()[:4] if text.startswith("from ") else ("", "", "", "")
    for part in (part for stmt in body if module for part in names.imports(stmt)):
        if not isinstance(part, cst.ImportFrom) or isinstance(part.names, cst.ImportStar) or _module(part) != module:
            continue
        *before, last = part.names
        node = last.asname.name if last.asname is not None else last.name
        line = of.positions[node].start.line
        above = of.positions[before[-1]].end.line if before else of.positions[part].start.line
        at = end(span(path, of.positions[node]))
        return Edit(at, f",\n{of.indent(line)}{name}" if line > above else f", {name}")
    return None


def _runs(body: Sequence[cst.CSTNode], own: Collection[str]) -> Iterator[list[_Import]]:
    """The imports of one section that stand below each other."""
    run: list[_Import] = []
    for stmt in body:
        found = _read(stmt, own)
        if run and (found is None or found.section != run[0].section):
            yield run
            run = []
        if found is not None:
            run.append(found)
    if run:
        yield run


def _read(stmt: cst.CSTNode, own: Collection[str]) -> _Import | None:
    parts = names.imports(stmt)
    if not isinstance(stmt, cst.SimpleStatementLine) or len(parts) != 1 or len(stmt.body) != 1:
        return None
    told = parts[0]
    name = told.names[0].evaluated_name if isinstance(told, cst.Import) else _module(told)
    return _Import(stmt, _section(name, own), isinstance(told, cst.ImportFrom), name.lower())


def _module(part: cst.ImportFrom) -> str:
    named = get_full_name_for_node(part.module) if part.module is not None else None
    return "." * len(part.relative) + (named or "")


def _section(name: str, own: Collection[str]) -> int:
    root = name.partition(".")[0]
    if not root or root in own:
        return _OWN
    return _FUTURE if root == "__future__" else _STANDARD if root in sys.stdlib_module_names else _OTHERS


def _new(text: str, runs: Sequence[Sequence[_Import]], last: cst.CSTNode, own: Collection[str]) -> _New:
    """Where one import is put: in its section, else between those that it belongs between."""
    name = text.split()[1]
    section = _section(name, own)
    run = next((run for run in runs if run[0].section == section), None)
    if run is not None:
        anchor = _above(run, name, is_from=text.startswith("from "))
        return _New(text, section, anchor or run[0].statement, anchor is None, opens=False)
    later = next((run for run in runs if run[0].section > section), None)
    if later is not None:
        return _New(text, section, later[0].statement, before=True, opens=True)
    return _New(text, section, runs[-1][-1].statement if runs else last, before=False, opens=bool(runs))


def _above(run: Sequence[_Import], name: str, *, is_from: bool) -> cst.CSTNode | None:
    """The import of a section that a new one of ``name`` comes behind; None where it comes first."""
    keys = [(one.is_from, one.name) for one in run]
    every = [one.name for one in run]
    if keys == sorted(keys):
        smaller = [one for one, key in zip(run, keys, strict=True) if key <= (is_from, name.lower())]
    elif every == sorted(every):
        smaller = [one for one in run if one.name <= name.lower()]
    else:  # in no order
        smaller = [one for one in run if one.is_from is is_from] or list(run)
    return smaller[-1].statement if smaller else None


def _before(path: str, of: Tree, anchor: cst.CSTNode, group: Sequence[_New]) -> Edit:
    line = of.positions[anchor].start.line
    above = of.lines[line - 2].split() if line > 1 else []
    first = group[0]
    blank = "\n" if first.opens and above[:1] in (["import"], ["from"]) else ""
    told = "".join(one.text + ("\n\n" if one.opens else "\n") for one in group)
    return Edit(Location(path, line, 1, line, 1), blank + told)


def _behind(group: Iterable[_New]) -> str:
    text, section = "", -1
    for one in group:
        text += ("\n\n" if one.opens and one.section != section else "\n") + one.text
        section = one.section
    return text
