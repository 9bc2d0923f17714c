"""Places in the bytes of a source that need no tree: words, logical lines, balanced parentheses."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

_WORD = re.compile(rb"\w+", re.ASCII)
_WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
# What matters when brackets are counted: strings and comments are one piece each.
_PIECE = re.compile(rb'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.){1,8}\'|//[^\n]*|/\*.*?\*/|[(){}\[\],]', re.DOTALL)
_ENDS = re.compile(rb'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?(?:\*/|\Z)|;', re.DOTALL)
_OUTER = re.compile(rb"(\w+)\s*\(\s*(?:[\w:]+\s*,\s*){0,20}(?:\w+\s*::\s*){0,10}\Z", re.ASCII)
_MAX_LINE = 10_000
"""How many bytes of a line are looked at before a place; longer lines are generated, and hold no comments."""
MAX_ARGUMENTS = 100_000
"""How many bytes the arguments of one macro or call may take."""
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|else|elif|endif)\b", re.MULTILINE)


def words_holding(data: bytes, needle: bytes, wanted: Container[bytes]) -> Iterator[tuple[int, bytes]]:
    """The words around each ``needle`` that are wanted, with their first byte."""
    at = data.find(needle)
    while at >= 0:
        start = at
        while start and data[start - 1] in _WORD_BYTES:
            start -= 1
        match = _WORD.match(data, start)
        end = match.end() if match else at + len(needle)
        word = data[start:end]
        if word in wanted:
            yield start, word
        at = data.find(needle, end)


def word_places(data: bytes, word: bytes, first: int = 0, last: int | None = None) -> Iterator[int]:
    """Where a whole word stands, from the byte ``first`` to before ``last``; an empty one stands nowhere."""
    at = data.find(word, first, last) if word else -1
    while at >= 0:
        end = at + len(word)
        if (not at or data[at - 1] not in _WORD_BYTES) and (end >= len(data) or data[end] not in _WORD_BYTES):
            yield at
        at = data.find(word, end, last)


def in_line_comment(data: bytes, at: int) -> bool:
    """Whether the line holds ``//`` before this byte, and no quote that could make it part of a string."""
    earliest = max(0, at - _MAX_LINE)
    start = max(data.rfind(b"\n", earliest, at) + 1, earliest)
    comment = data.find(b"//", start, at)
    return comment >= 0 and b'"' not in data[start:comment] and b"'" not in data[start:comment]


def arguments(data: bytes, opening: int) -> tuple[list[tuple[int, int]], int] | None:
    """The ranges between the commas of the parentheses that open here, and the byte after the closing one.

    None where they do not close within ``MAX_ARGUMENTS`` bytes.
    """
    depth, start = 0, opening + 1
    found: list[tuple[int, int]] = []
    for match in _PIECE.finditer(data, opening, opening + MAX_ARGUMENTS):
        piece = match[0]
        if piece in (b"(", b"{", b"["):
            depth += 1
        elif piece in (b")", b"}", b"]"):
            depth -= 1
            if depth == 0:
                if found or data[start : match.start()].strip():
                    found.append((start, match.start()))
                return found, match.end()
        elif piece == b"," and depth == 1:
            found.append((start, match.start()))
            start = match.end()
    return None


def semicolon(data: bytes, at: int) -> int:
    """Where the first ``;`` from a byte on stands, outside of strings and comments; at the end where there is none."""
    ends = (match.start() for match in _ENDS.finditer(data, at) if match[0] == b";")
    return next(ends, len(data))


def argument_of(data: bytes, at: int) -> tuple[bytes, int] | None:
    """The word before the parentheses in which a name stands as an argument, after other names only, and its place."""
    match = _OUTER.search(data, max(0, at - 300), at)
    return (match[1], match.start(1)) if match is not None else None


def branches_apart(data: bytes, first: int, last: int) -> bool:
    """Whether two places stand in different branches of one condition of the preprocessor."""
    depth = 0
    for match in _CONDITION.finditer(data, first, last):
        if match[1].startswith(b"if"):
            depth += 1
        elif match[1] == b"endif":
            depth -= 1
        elif depth == 0:
            return True
        if depth < 0:
            return False
    return False
