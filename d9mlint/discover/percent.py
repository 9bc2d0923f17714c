"""Scripts in percent format: programs of plain Python whose comments ``# %%`` divide them into cells.

They are what jupytext pairs with notebooks, and what VS Code, PyCharm and Spyder run cell by cell. Places in them stay
lines of the file. Sources: jupytext 1.19 (cell_reader.py, DoublePercentScriptCellsReader; header.py), the documentation
of VS Code's Python interactive window.
"""

from __future__ import annotations

import re

_CELL = re.compile(r"^#[ \t]*%%(?:%*[ \t][^\n]*)?\r?$", re.MULTILINE)
_HEADER = re.compile(r"(?:#![^\n]*\n|#[^\n]*coding[^\n]*\n)*# ---\r?\n(?:#[^\n]*\n){1,200}?# ---\r?\n")
_DECLARED = re.compile(r"^#[ \t]+format_name:[ \t]*percent\b", re.MULTILINE)


def is_percent(data: bytes) -> bool:
    """Whether a script is in percent format: by its header, or by two cells (one mark alone may be any comment)."""
    if b"%%" not in data:
        return False
    text = data.decode("utf-8", "replace")
    return len(_CELL.findall(text)) > 1 or _declared(text)


def cell_lines(text: str) -> list[tuple[int, int]]:
    """First and last line of each cell of such a script, as jupytext numbers them; of other texts none."""
    marks = list(_CELL.finditer(text))
    if len(marks) < 2 and not (marks and _declared(text)):
        return []
    header = _HEADER.match(text)
    start = header.end() if header else 0
    starts = [mark.start() for mark in marks]
    if text[start : starts[0]].strip():  # what stands before the first mark is a cell, too
        starts.insert(0, start)
    lines = [text.count("\n", 0, offset) + 1 for offset in starts]
    ends = [*(line - 1 for line in lines[1:]), text.count("\n") + 1]
    return list(zip(lines, ends, strict=True))


def _declared(text: str) -> bool:
    header = _HEADER.match(text)
    return header is not None and _DECLARED.search(header[0]) is not None
