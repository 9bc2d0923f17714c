"""Styled lines for terminals: what the text reports are made of."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from d9mlint.model import Location
from d9mlint.report.columns import wrapped
from d9mlint.report.excerpt import excerpt
from d9mlint.report.words import one_line, printable

Span = tuple[str, str]
"""Text and its style (empty for none), which may end in a link (see `linked`)."""
Line = tuple[Span, ...]
_LINK = " link "
NARROWEST = 40
"""Columns below which nothing is filled."""


def joined(lines: Iterable[Line], *, color: bool) -> str:
    """The lines as text; colours add escape sequences and change nothing else."""
    paint = _painted if color else _plain
    return "".join(paint(line) + "\n" for line in lines)


def _plain(line: Line) -> str:
    return "".join(text for text, _ in line)


def _painted(line: Line) -> str:
    # Style.render rather than a Console: no wrapping, no look at the environment, and half the import time.
    from rich.color import ColorSystem
    from rich.style import Style

    shown = []
    for text, style in line:
        look, _, url = style.partition(_LINK)
        painted = Style.parse(look).render(text, color_system=ColorSystem.STANDARD) if look and text else text
        # "Hyperlinks in Terminal Emulators" (OSC 8); rich would give each link a number drawn at random.
        shown.append(f"\x1b]8;;{url}\x1b\\{painted}\x1b]8;;\x1b\\" if url else painted)
    return "".join(shown)


def linked(text: str, style: str, url: str) -> Span:
    """Text that leads to ``url`` where it is painted; without a URL as it is."""
    return (text, f"{style}{_LINK}{url}" if url else style)


def place(location: Location) -> str:
    """``path:line``, in a notebook ``path:cell 3:line``."""
    return f"{printable(location.file)}:{location.line}"


def cell(location: Location) -> str:
    """`` (cell 3)`` after a place whose line is one of the file; nothing where the place says it or there is none."""
    return f" (cell {location.cell})" if location.cell and not location.in_cell else ""


def excerpted(at: Location, lines: list[str], width: int, style: str) -> Iterator[Line]:
    """The first line of a range and its underline; nothing where the source is not at hand."""
    if not 1 <= at.line <= len(lines) or not lines[at.line - 1].strip():
        return
    gutter = f"{at.line:>5} | "
    end = at.end_column if at.end_line == at.line else None
    shown = excerpt(lines[at.line - 1], at.column, end, width - len(gutter))
    yield (gutter, "dim"), (shown.line, "")
    caret = "^" * shown.width
    yield (" " * (len(gutter) - 2) + "| ", "dim"), (" " * shown.start, ""), (caret, style)


def labelled(label: str, text: str, width: int, indent: int = 8) -> Iterator[Line]:
    """``label: text`` with a hanging indent; nothing for an empty text."""
    head = f"  {label}:".ljust(indent)
    for number, line in enumerate(_wrapped(text, width - indent)):
        yield ((" " * indent, "") if number else (head, "bold")), (line, "")


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Prose filled to ``width``, code as it stands."""
    for block in blocks(text):
        if block.is_code:
            yield from ("  " + line for line in block.lines)
        else:
            yield from wrapped(block.lines[0], width)


class Block(NamedTuple):
    """A paragraph, as one line, or lines of code."""

    lines: tuple[str, ...]
    is_code: bool


def blocks(text: str) -> Iterator[Block]:
    """The paragraphs of ``text``, printable; indented lines are code."""
    for kind, block in groupby(text.expandtabs(4).splitlines(), key=_kind):
        if kind == "code":
            yield Block(tuple(map(printable, textwrap.dedent("\n".join(block)).splitlines())), is_code=True)
        elif kind == "prose":
            yield Block((one_line(" ".join(block)),), is_code=False)


def _kind(line: str) -> str:
    if not line.strip():
        return "blank"
    return "code" if line.startswith("  ") else "prose"


def item(label: str, text: str, width: int) -> Iterator[Line]:
    """A line of a summary."""
    return labelled(label, text, width, indent=14)


def hanging(text: str, width: int) -> Iterator[Line]:
    """An entry of a list in a summary."""
    for number, line in enumerate(wrapped(text, width - 6)):
        yield ((("      " if number else "    ") + line, ""),)
