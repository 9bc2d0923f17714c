"""Large source texts in sections, since libcst's tree takes some six hundred times the memory of its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import accumulate

LARGE = 50_000
"""Bytes of a section, where the statements at the top level are not larger."""
_DECLARED = re.compile(rb"\A(?:[^\r\n]*\r?\n)?[^\r\n]*coding[:=]")
"""An encoding that is declared in one of the first two lines: each section would have to declare it."""


def is_large(data: bytes) -> bool:
    """Whether a source text is worth a cut, and may be cut."""
    return len(data) > LARGE and _DECLARED.match(data) is None


def sections(data: bytes, tree: ast.Module) -> Iterator[tuple[int, bytes]]:
    """The lines before each section, and its text; ``tree`` is what Python's own parser read.

    Cuts fall between statements of the top level that have lines of their own.
    """
    lines = data.splitlines(keepends=True)
    sizes = [0, *accumulate(map(len, lines))]
    begin = ended = 0
    for statement in tree.body:
        line = _first_line(statement) - 1
        last = statement.end_lineno or line
        if begin < line >= ended and sizes[last] - sizes[begin] > LARGE:
            yield begin, b"".join(lines[begin:line])
            begin = line
        ended = last
    yield begin, b"".join(lines[begin:])


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min((statement.lineno, *(decorator.lineno for decorator in decorators)))
