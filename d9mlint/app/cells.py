"""Places in notebooks as the user knows them: cell, and line in the cell; in percent scripts the cell only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from d9mlint.model import Coverage, Edit, Finding, Location, PlanRow, Report, Unchecked
from d9mlint.python.source.notebooks import Cell, cell_at, cells, original
from d9mlint.python.source.reading import NOTEBOOK

_LINE = re.compile(r"\bline (\d+)")


class _Notebook:
    """The lines and cells of the text of a notebook or of a script in percent format."""

    def __init__(self, path: str, text: str) -> None:
        self.is_script = not path.endswith(NOTEBOOK)
        self.lines = text.split("\n")
        self.cells = cells(text)


def by_cell(report: Report, texts: Mapping[str, str]) -> Report:
    """The report with places of notebooks as cell and line; ``texts`` are those that the findings were made from."""
    places = {path: _Notebook(path, text) for path, text in texts.items()}
    notebooks = {path for path, one in places.items() if not one.is_script}
    sources = {path: text for path, text in report.sources.items() if path not in notebooks}
    for path in report.sources.keys() & notebooks:
        lines = report.sources[path].split("\n")
        for cell in places[path].cells:
            sources[f"{path}:cell {cell.number}"] = "\n".join(map(original, lines[cell.first - 1 : cell.last]))
    return report._replace(
        findings=tuple(_finding(one, places) for one in report.findings),
        unchecked=tuple(_unchecked(one, places) for one in report.unchecked),
        coverage={entry: _coverage(one, places) for entry, one in report.coverage.items()},
        plans={entry: tuple(_row(row, places) for row in rows) for entry, rows in report.plans.items()},
        sources=sources,
    )


def _coverage(one: Coverage, places: Mapping[str, _Notebook]) -> Coverage:
    return one._replace(
        unfollowed=tuple(call._replace(location=_moved(call.location, places)) for call in one.unfollowed)
    )


def _row(row: PlanRow, places: Mapping[str, _Notebook]) -> PlanRow:
    return row if row.location is None else row._replace(location=_moved(row.location, places))


def _finding(finding: Finding, places: Mapping[str, _Notebook]) -> Finding:
    related = tuple(one._replace(location=_moved(one.location, places)) for one in finding.related)
    fixes = tuple(one._replace(edits=tuple(_edit(edit, places) for edit in one.edits)) for one in finding.fixes)
    programs = tuple(
        one._replace(reached=_moved(one.reached, places)) if one.reached else one for one in finding.programs
    )
    moved = finding._replace(location=_moved(finding.location, places), related=related, fixes=fixes, programs=programs)
    notebook = places.get(finding.location.path)
    if notebook is None or notebook.is_script:
        return moved
    return moved._replace(message=_LINE.sub(lambda match: _told(match, notebook), finding.message))


def _edit(edit: Edit, places: Mapping[str, _Notebook]) -> Edit:
    notebook = places.get(edit.location.path)
    return edit if notebook is None or notebook.is_script else Edit(_moved(edit.location, places), edit.text)


def _moved(at: Location, places: Mapping[str, _Notebook]) -> Location:
    notebook = places.get(at.path)
    cell = cell_at(notebook.cells, at.line) if notebook else None
    if notebook is None or cell is None:
        return at
    if notebook.is_script:
        return at._replace(cell=cell.number)
    before, line = cell.first - 1, notebook.lines[at.line - 1]
    column, end = at.column, at.end_column
    if (shown := original(line)) != line:  # a magic: all of it
        column, end = len(shown) - len(shown.lstrip()) + 1, len(shown) + 1
    return Location(at.path, at.line - before, column, at.end_line - before, end, cell.number)


def _told(match: re.Match[str], notebook: _Notebook) -> str:
    """A line that is named in words, as one of its cell (what is missing at its end is told of the line after it)."""
    found = [cell for cell in notebook.cells if cell.first <= int(match[1])]
    if not found:
        return match[0]
    return f"line {min(int(match[1]), found[-1].last) - found[-1].first + 1} of cell {found[-1].number}"


def _unchecked(one: Unchecked, places: Mapping[str, _Notebook]) -> Unchecked:
    notebook = places.get(one.path)
    if notebook is None or notebook.is_script:
        return one
    return one._replace(reason=_LINE.sub(lambda match: _told(match, notebook), one.reason))


# -- back ----------------------------------------------------------------------------------------------------------


def in_text(finding: Finding, tables: Mapping[str, Sequence[Cell]]) -> Finding:
    """A finding of a report with its places in notebooks as those of their texts; ``tables`` are the cells of these."""

    def back(at: Location) -> Location:
        if not at.in_cell or at.path not in tables:
            return at
        before = next((cell.first - 1 for cell in tables[at.path] if cell.number == at.cell), -at.line)
        return at._replace(line=at.line + before, end_line=at.end_line + before, cell=0)

    return finding._replace(
        location=back(finding.location),
        related=tuple(one._replace(location=back(one.location)) for one in finding.related),
        fixes=tuple(
            one._replace(edits=tuple(Edit(back(edit.location), edit.text) for edit in one.edits))
            for one in finding.fixes
        ),
    )


def in_cell(edit: Edit, table: Sequence[Cell]) -> Edit:
    """An edit of a notebook's text as one of the cell that it begins in."""
    cell = cell_at(table, edit.location.line)
    if cell is None:
        return edit
    at, before = edit.location, cell.first - 1
    return Edit(at._replace(line=at.line - before, end_line=at.end_line - before, cell=cell.number), edit.text)
