"""Statements, and what edits need, put into a script behind its imports."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import libcst as cst

from d9mlint.fix import names
from d9mlint.fix.imports import Placed, placed
from d9mlint.fix.remedies import ROOTS
from d9mlint.fix.tree import Tree, is_text, tree
from d9mlint.model import Edit, Location

_STANDARD = ("random", "os", "zlib", "hashlib")
_PACKAGES = frozenset(
    {*ROOTS.values(), "__future__", "sys", "math", "time", "datetime", "json", "argparse", "logging", "pathlib", "re",
     "collections", "itertools", "functools", "typing", "dataclasses", "absl", "torchvision", "jax", "flax", "optax"}
)  # fmt: skip
"""Packages whose import draws nothing."""
_UNPARSED = "it cannot be parsed"
_MARIMO = re.compile(rb"^\w+ = marimo\.App\(", re.MULTILINE)
_ONLY_CELLS = "marimo runs the cells of a notebook alone: put it into the cell that imports what it is about"
Cells = Sequence[tuple[int, int]]
"""First and last line of each cell."""


def insertion(
    path: str,
    source: bytes,
    statements: Iterable[str],
    needs: Iterable[str] = (),
    *,
    early: bool = False,
    cells: Cells = (),
    own: Collection[str] = (),
    before: float = math.inf,
) -> tuple[Edit, ...] | str:
    """The edits that put statements, and the imports they need, behind the imports of a script; or why it cannot.

    ``needs``: functions to be defined there, imports, and packages to be imported, by the names that remedies have.
    ``early``: before the first import that is relative or of a module beside the script, as that may draw. ``cells``:
    the lines of the cells that it is run in; they go into the first by which what they are about is imported. ``own``:
    the modules of the project. ``before``: the line above which they have to stand.
    """
    if _MARIMO.search(source):
        return _ONLY_CELLS
    of = tree(source)
    if of is None:
        return _UNPARSED
    body, wanted, needed = of.module.body, list(statements), list(needs)
    heads = {one.partition(".")[0] for one in wanted}
    roots = {ROOTS[one] for one in heads if one in ROOTS} | {ROOTS[one] for one in needed if one in ROOTS}
    packages = frozenset() if early else roots.difference(_STANDARD)
    first = _first_cells(body, [of.positions[stmt].start.line for stmt in body], cells, packages)
    above = [stmt for stmt in first if of.positions[stmt].end.line < before]
    last, bound = _last_import(above, early)
    told = [names.known(one, bound) for one in wanted]
    present = _present(of, told, last)
    new = [one for one in told if one not in present]
    imports = [one for one in needed if one.startswith("from ")]
    functions = [names.known(one, bound) for one in needed if one not in ROOTS and one not in imports]
    used = [f"{one}." for one in needed if one in ROOTS]
    lacking = dict.fromkeys(text for one in (*new, *functions, *used) for text in names.lacking(one, bound))
    lacking |= dict.fromkeys(one for one in imports if one.split()[-1] not in bound)
    if not (new or functions or lacking):
        return "it is there already"
    edits, missing = Placed((), "\n".join(lacking))
    if not cells and last is not None:
        edits, missing = placed(path, of, body[: body.index(last) + 1], lacking, own)
    if not (new or functions or missing):
        return _merged(edits)
    groups = [missing] if missing else []
    groups += ["\n".join(new)] if new else []
    text = "\n\n".join(groups) + "".join(f"\n\n\n{one.rstrip()}" for one in functions)
    if last is None:
        line = of.positions[body[0]].start.line if body else len(of.lines)  # what stands above are comments
        return (Edit(Location(path, line, 1, line, 1), f"{text.lstrip()}\n" + "\n" * _blank(body, bool(functions))),)
    gap = "" if missing else "\n"
    blank = 2 if functions else 1 if new else 0
    behind = _behind(path, of.lines, of.positions[last].end.line, gap + text.removeprefix("\n\n"), blank)
    return _merged((*edits, behind))


def _merged(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The same with what is inserted at one place as one edit."""
    texts: dict[Location, str] = {}
    for edit in edits:
        texts[edit.location] = texts.get(edit.location, "") + edit.text
    return tuple(Edit(at, text) for at, text in texts.items())


def _blank(body: Sequence[cst.CSTNode], functions: bool) -> int:
    """How many blank lines stand between what is inserted and what follows."""
    return 0 if not body else 2 if functions else 1


def _behind(path: str, lines: Sequence[str], line: int, text: str, blank: int) -> Edit:
    """The edit that puts lines behind a line, with blank ones where others follow, and a line end at the last."""
    end = len(lines[line - 1]) + 1
    there = next((n for n, one in enumerate(lines[line : line + blank]) if one.strip()), blank)
    return Edit(Location(path, line, end, line, end), "\n" + text + "\n" * (1 if line == len(lines) else blank - there))


def _present(of: Tree, told: Collection[str], last: cst.CSTNode | None) -> set[str]:
    """Which of these statements stand where they would be put, or before."""
    found: set[str] = set()
    behind = last is None
    for stmt in of.module.body:
        text = _text(of, stmt)
        if behind and text not in told:
            break
        found.add(text)
        behind = behind or stmt is last
    return found


def _text(of: Tree, stmt: cst.CSTNode) -> str:
    return of.code(stmt.with_changes(leading_lines=())).strip() if hasattr(stmt, "leading_lines") else ""


# -- imports ---------------------------------------------------------------------------------------------------------


def _first_cells(
    body: Sequence[cst.BaseStatement | cst.BaseSmallStatement],
    lines: Sequence[int],
    cells: Cells,
    packages: Collection[str],
) -> Sequence[cst.BaseStatement | cst.BaseSmallStatement]:
    """The statements up to the end of the first cell by which ``packages`` are imported, those that ever are."""
    if not cells:
        return body
    imported = [
        {name.partition(".")[0] for part in names.imports(stmt) for name in names.binds(part).values()} for stmt in body
    ]
    missing = {name for found in imported for name in found}.intersection(packages)
    within = [next((number for number, (_, last) in enumerate(cells) if line <= last), -1) for line in lines]
    for number, found in enumerate(imported):
        missing -= found
        ends = number + 1 < len(body) and within[number + 1] != within[number]
        if ends and not missing and any(imported[: number + 1]):
            return body[: number + 1]
    return body


def _last_import(body: Sequence[cst.CSTNode], early: bool) -> tuple[cst.CSTNode | None, Mapping[str, str]]:
    """The statement behind which to insert, and what the imports up to it bind, by name."""
    last: cst.CSTNode | None = None
    bound: dict[str, str] = {}
    idle = True
    for number, stmt in enumerate(body):
        found = names.imports(stmt)
        if not found:
            idle = idle and (_is_pass(stmt) or (number == 0 and is_text(stmt)))
            last = stmt if idle else last
            continue
        if early and any(not _is_of_packages(part) for part in found):
            break
        last, idle = stmt, False
        for part in found:
            bound.update(names.binds(part))
    return last, bound


def _is_pass(stmt: cst.CSTNode) -> bool:
    """Whether a statement does nothing, as which the magics of a notebook are read."""
    return isinstance(stmt, cst.SimpleStatementLine) and all(isinstance(part, cst.Pass) for part in stmt.body)


def _is_of_packages(part: cst.Import | cst.ImportFrom) -> bool:
    """Whether an import is of frameworks and of what they need; any other one may run code of the program."""
    return all(name.partition(".")[0] in _PACKAGES for name in names.binds(part).values())
