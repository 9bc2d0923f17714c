"""Suppression comments of C++ and CUDA sources: ``// d9m: ignore[name] reason``, also in ``/* ... */``."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from d9mlint.suppress.comments import CPP_FORM, MARK, Comment, Suppression, suppressions

_TOKEN = re.compile(
    r"(?P<line>//(?:[^\\\n]|\\(?:\r?\n|.)?)*)"
    r"|(?P<block>/\*(?:.*?\*/|.*))"
    r"|\b(?:u8|[uUL])?R\"(?P<mark>[^()\\\s\"]{0,16})\((?:.*?\)(?P=mark)\"|.*)"
    r"|\"(?:[^\"\\\n]|\\.)*\""
    r"|\b[0-9](?:'?[\w.])*"  # 1'000 is no character
    r"|'(?:[^'\\\n]|\\.)+'",
    re.DOTALL,
)
"""Comments, and what may hold something that looks like one; what is not closed reaches to the end."""
_LEAD = re.compile(r"(?:^|(?<=\s))(?://+|/\*+|\*(?=[ \t]*" + MARK + "))")
_LONGEST = 20
"""Lines of a statement that a comment above it covers."""


def scan(text: str) -> tuple[Suppression, ...]:
    """The suppression comments, in the order of the text; never raises.

    A comment after code is about its line. A comment alone on its line is about the statement that follows, up to the
    line that ends in ``;``, ``{`` or ``}``.
    """
    if MARK not in text:
        return ()
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    tokens = [m for m in _TOKEN.finditer(text) if m.lastgroup in ("line", "block")]
    code = _without(text, tokens).split("\n")
    written = [number for number, line in enumerate(code, 1) if line.strip(" \t\r\f\\")]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return tuple(
        found
        for token in tokens
        if MARK in token[0]
        for comment in _comments(token, starts, code, written)
        for found in suppressions(comment, lines[comment.line - 1], CPP_FORM)
    )


def _without(text: str, tokens: Sequence[re.Match[str]]) -> str:
    """The text with its comments blank, every character at its place."""
    parts: list[str] = []
    at = 0
    for token in tokens:
        parts += [text[at : token.start()], re.sub(r"[^\n]", " ", token[0])]
        at = token.end()
    return "".join([*parts, text[at:]])


def _comments(
    token: re.Match[str], starts: Sequence[int], code: Sequence[str], written: Sequence[int]
) -> Iterator[Comment]:
    """The lines of a comment that bear a mark, each as a comment of its own."""
    at = token.start()
    for part in token[0].split("\n"):
        if MARK in part:
            line = bisect_left(starts, at + 1)
            first, last, alone = _covered(line, code, written)
            yield Comment(line, at - starts[line - 1] + 1, _hashed(part), first, last, alone)
        at += len(part) + 1


def _hashed(part: str) -> str:
    """The comment with the marks of Python's comments, every character at its place."""
    part = re.sub(r"\*+/[ \t]*$", lambda m: " " * len(m[0]), part.rstrip("\r\\"))
    return _LEAD.sub(_hashes, part)


def _hashes(match: re.Match[str]) -> str:
    return "#" * len(match[0])


def _covered(line: int, code: Sequence[str], written: Sequence[int]) -> tuple[int, int, bool]:
    """First and last line that a comment is about, and whether it is alone on its line."""
    index = bisect_left(written, line)
    if index == len(written) or written[index] == line:
        return line, line, index == len(written)
    first = written[index]
    for number in written[index : index + _LONGEST]:
        if code[number - 1].rstrip(" \t\r\\").endswith((";", "{", "}")):
            return first, number, True
    return first, first, True
