"""Edits of cells in the text of a notebook: nothing of it changes but the ``source`` of the cells that are edited.

The JSON is not written anew, as its layout is not known: each source is found in the text and replaced there.
Source: nbformat.readthedocs.io (format 4: ``source`` is a list of lines, or one string).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from d9mlint.fix.edits import NEWLINE, edited_text
from d9mlint.model import Edit

SUFFIX = ".ipynb"
_SPACE = re.compile(r"[ \t\r\n]*")
_VALUE = json.JSONDecoder().raw_decode
_STARTS = re.compile(r"\n(?=[^\n])")
_MARK = "\ufeff"
_BROKEN = "it is no notebook"
_OLD = "notebooks of format 3 are not patched (`jupyter nbconvert --to notebook` writes format 4)"


class CannotEdit(Exception):
    """A notebook that is left as it is; the text is the reason."""


class _Source(NamedTuple):
    """The source of a code cell: its value's place in the text of the notebook, and those of the strings in it."""

    start: int
    end: int
    parts: tuple[tuple[int, int], ...]
    text: str


def sources(data: bytes) -> dict[int, str]:
    """The texts of the code cells of a notebook, by their numbers among all cells (from 1).

    Raises:
        CannotEdit: it is none, or of a format that is not known.
    """
    return {number: source.text for number, source in _sources(_text(data)).items()}


def edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    """A notebook with ``edits``, whose places are cells and lines in them, as reports tell them.

    Raises:
        CannotEdit: as `sources`, or a place lies outside of its cell.
    """
    text = _text(data)
    found = _sources(text)
    wanted: dict[int, list[Edit]] = {}
    for edit in edits:
        wanted.setdefault(edit.location.cell, []).append(edit)
    if missing := wanted.keys() - found.keys():
        raise CannotEdit(f"it has no code cell {min(missing)}")
    for number in sorted(wanted, key=lambda one: found[one].start, reverse=True):
        source = found[number]
        new = edited_text(source.text, _in_cell(source.text, wanted[number]))
        if new is None:
            raise CannotEdit(f"an edit lies outside of cell {number}")
        text = text[: source.start] + _written(text, source, new) + text[source.end :]
    return text.encode()


def _in_cell(text: str, edits: Iterable[Edit]) -> Iterator[Edit]:
    """The edits of a cell with the indentation that IPython takes from all its lines, and no blank line at its end."""
    first = next((line for line in NEWLINE.split(text) if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    lines = NEWLINE.split(text)
    for edit in edits:
        at, new = edit.location, edit.text
        if at.end_line == len(lines) and at.end_column > len(lines[-1]) - _shift(lines, at.end_line, indent):
            new = new.rstrip("\n")
        elif at.column == 1 and new.endswith("\n"):
            new += indent
        at = at._replace(
            column=at.column + _shift(lines, at.line, indent),
            end_column=at.end_column + _shift(lines, at.end_line, indent),
        )
        yield Edit(at, _STARTS.sub(f"\n{indent}", new))


def _shift(lines: Sequence[str], line: int, indent: str) -> int:
    return len(indent) if 1 <= line <= len(lines) and lines[line - 1].startswith(indent) else 0


# -- writing ---------------------------------------------------------------------------------------------------------


def _written(text: str, source: _Source, new: str) -> str:
    """The JSON of a source with the text ``new``; strings that it had keep theirs."""
    known = {json.loads(text[start:end]): text[start:end] for start, end in source.parts}
    if text[source.start] == '"':
        return _string(new, text[source.start : source.end])
    raw = text[source.start : source.end]
    pieces = [known.get(piece) or _string(piece, raw) for piece in _splitter(known, source.text)(new)]
    opening, between, closing = _layout(text, source)
    return f"[{opening}{between.join(pieces)}{closing}]"


def _string(value: str, before: str) -> str:
    """A string as JSON, with letters beyond ASCII written as in what stood there."""
    out = json.dumps(value, ensure_ascii=before.isascii())
    try:
        out.encode()
    except UnicodeEncodeError:  # half of a pair of surrogates can only be written as an escape
        return json.dumps(value)
    return out


def _splitter(strings: Iterable[str], text: str) -> Callable[[str], list[str]]:
    """How the lines of a source are divided: as nbformat does (also at form feeds, say), or at line feeds only."""
    known = set(strings)
    return _at_line_feeds if known != set(_as_nbformat(text)) and known == set(_at_line_feeds(text)) else _as_nbformat


def _as_nbformat(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _at_line_feeds(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _layout(text: str, source: _Source) -> tuple[str, str, str]:
    """What stands behind the bracket, between two strings, and before the other bracket."""
    if not source.parts:
        return "", ", ", ""
    (first, end), *others = source.parts
    opening = text[source.start + 1 : first]
    closing = text[source.parts[-1][1] : source.end - 1]
    compact = text[source.start - 1] == ":"
    alone = opening if "\n" in opening else "" if compact else " "
    return opening, text[end : others[0][0]] if others else f",{alone}", closing


# -- reading ---------------------------------------------------------------------------------------------------------


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise CannotEdit(_BROKEN) from None


def _sources(text: str) -> dict[int, _Source]:
    start = _skip(text, len(_MARK) if text.startswith(_MARK) else 0)
    try:
        _VALUE(text, start)
        top = _members(text, start) if text[start] == "{" else {}
    except (ValueError, IndexError, RecursionError):
        raise CannotEdit(_BROKEN) from None
    if "worksheets" in top:
        raise CannotEdit(_OLD)
    if "cells" not in top or text[top["cells"][0]] != "[":
        raise CannotEdit(_BROKEN)
    cells = enumerate(_items(text, top["cells"][0]), 1)
    members = {number: _members(text, at) for number, (at, _) in cells if text[at] == "{"}
    return {
        number: _source(number, text, *cell["source"])
        for number, cell in members.items()
        if "source" in cell and "cell_type" in cell and _value(text, cell["cell_type"]) == "code"
    }


def _source(number: int, text: str, start: int, end: int) -> _Source:
    is_list = text[start] == "["
    parts = tuple(_items(text, start)) if is_list else ((start, end),)
    strings = [_value(text, part) for part in parts]
    if not all(isinstance(one, str) for one in strings):
        raise CannotEdit(f"the source of cell {number} is no text")
    return _Source(start, end, parts, "".join(strings))


def _value(text: str, place: tuple[int, int]) -> Any:
    return _VALUE(text, place[0])[0]


def _members(text: str, at: int) -> Mapping[str, tuple[int, int]]:
    """The places of the values of the object that begins at ``at``, by key; of equal keys the last counts."""
    out: dict[str, tuple[int, int]] = {}
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _VALUE(text, at)
        start = _skip(text, _skip(text, at) + 1)  # behind the colon
        _, end = _VALUE(text, start)
        out[key] = start, end
        at = _next(text, end)
    return out


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The places of the values of the array that begins at ``at``."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        _, end = _VALUE(text, at)
        yield at, end
        at = _next(text, end)


def _next(text: str, at: int) -> int:
    """Where the next value, or what closes all of them, begins behind a value that ends at ``at``."""
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
