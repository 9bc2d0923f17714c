"""Source lines as they are shown: one with the caret line that goes under it, or several around a place."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import NamedTuple

from d9mlint.model import Location
from d9mlint.report.columns import display_width
from d9mlint.report.words import printable

TAB = 4
_CUT = "..."
_SHORTEST = 20
_LONGEST = 400
"""Characters of a line on a page; generated lines are longer."""
_NEWLINE = re.compile(r"\r\n|\r|\n")


class Excerpt(NamedTuple):
    """``line`` as shown; the range is underlined from display column ``start`` (from 0) over ``width`` (at least 1)."""

    line: str
    start: int
    width: int


def source_lines(text: str) -> list[str]:
    """Lines as Python counts them; ``str.splitlines`` would also break at form feeds and Unicode separators."""
    return _NEWLINE.split(text.removeprefix("\ufeff"))


def excerpt(line: str, column: int, end_column: int | None, room: int) -> Excerpt:
    """``line`` in at most ``room`` columns, cut around the range; ``end_column`` None means up to the line's end."""
    shown = cells(line)
    first = min(max(column - 1, 0), len(shown))
    last = len(line.rstrip()) if end_column is None else end_column - 1
    last = min(max(last, first), len(shown))
    edges = list(accumulate((display_width(cell) for cell in shown), initial=0))
    low, high = _window(edges[first], edges[last], edges[-1], max(room, _SHORTEST))
    left, right = bisect_left(edges, low), bisect_right(edges, high) - 1
    before, after = _CUT if left else "", _CUT if right < len(shown) else ""
    start, end = edges[first], min(edges[last], edges[right])
    text = before + "".join(shown[left:right]) + after
    return Excerpt(text.rstrip(" "), start - edges[left] + len(before), max(end - start, 1))


class ShownLine(NamedTuple):
    """A line of the excerpt of a page; what a place covers of it stands in ``marked``."""

    number: int
    before: str
    marked: str
    after: str
    here: bool
    """Whether the place covers a part of it."""


def around(at: Location, lines: list[str], most: int = 4) -> tuple[ShownLine, ...]:
    """The lines of a place (of a long one the first), and at most ``most`` before and after it."""
    if not 1 <= at.line <= len(lines):
        return ()
    end = len(lines) - (not lines[-1])  # after the last line break there is no line
    first, last = max(at.line - most, 1), min(at.end_line + most, end, at.line + 4 * most)
    return tuple(_shown(number, lines[number - 1][:_LONGEST], at) for number in range(first, last + 1))


def _shown(number: int, line: str, at: Location) -> ShownLine:
    text = cells(line)
    here = at.line <= number <= at.end_line
    start = at.column - 1 if number == at.line else len(line) - len(line.lstrip())
    end = at.end_column - 1 if number == at.end_line else len(line.rstrip())
    start, end = (start, max(start, end)) if here else (0, 0)
    return ShownLine(number, "".join(text[:start]), "".join(text[start:end]), "".join(text[end:]), here)


def cells(line: str) -> list[str]:
    """What is shown for each character: tabs become spaces up to the next stop, unprintable ones an escape."""
    shown: list[str] = []
    position = 0
    for character in line:
        cell = " " * (TAB - position % TAB) if character == "\t" else printable(character)
        shown.append(cell)
        position += display_width(cell)
    return shown


def _window(start: int, end: int, total: int, room: int) -> tuple[int, int]:
    """The display columns of a line of ``total`` that are shown, so that the range lies in the middle."""
    if total <= room:
        return 0, total
    inner = room - 2 * len(_CUT)
    context = inner - min(end - start, inner)
    low = max(0, min(start - context // 2, total - inner))
    return low, low + inner
