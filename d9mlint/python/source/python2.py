"""Sources of Python 2, and of Python 3 before 3.7, as Python of today: many programs for old releases are such.

Every line stays where it is; within a line that is rewritten, columns may move.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fissix.refactor import RefactoringTool

MAX_BYTES = 300_000
"""Larger sources are left alone: the conversion takes a second for some thousand lines."""
_FIXERS = ("print", "except", "raise", "exec", "repr", "ne", "numliterals")
"""Syntax that Python 3 refuses. What the names of Python 2 mean is not touched, and no line is added."""
_PARAMETERS = "tuple_params"
"""Those that are pairs, ``lambda (a, b): a + b``; of a function they would be taken apart in a line of their own."""
_PAIRS_OF_FUNCTIONS = re.compile(rb"^[ \t]*def[ \t]+\w+\((?:[^()\n]*,)?[ \t]*\(", re.MULTILINE)
_SIGNS = re.compile(
    rb"^[ \t]*print[ \t]+[\"'\w%]|^[ \t]*print[ \t]*>>|^[ \t]*except[ \t]+\w+[ \t]*,[ \t]*\w+[ \t]*:"
    rb"|^[ \t]*raise[ \t]+\w+[ \t]*,|^[ \t]*exec[ \t]+[\"'\w]|\b0[0-7]+\b|<>|`|\blambda[ \t]*\(",
    re.MULTILINE,
)

_TAB = 8
"""Columns from one tab stop to the next (docs.python.org/2.7, "Indentation"); Python 3 refuses what depends on it."""
_INDENTED = re.compile(r"[ \t]*\t[ \t]*(?=\S)")
_MIXED = (re.compile(rb"^[ \t]*\t", re.MULTILINE), re.compile(rb"^\t* ", re.MULTILINE))
"""What a text has in which lines are indented in both ways."""
_ASYNC = re.compile(rb"\basync\b(?![ \t]+(?:def|for|with)\b)")
"""A word of its own since Python 3.7, a name before: ``x.cuda(async=True)``, ``if async:``."""


def looks_like(data: bytes) -> bool:
    """Whether a text that is no Python 3 has something that Python 2 allows."""
    return _SIGNS.search(data) is not None


def as_python3(data: bytes) -> bytes | None:
    """The text in the syntax of Python 3; None where it cannot be told."""
    if len(data) > MAX_BYTES:
        return None
    named, data = data, _ASYNC.sub(b"async_", data)
    if not looks_like(data):
        return data if data != named else None
    try:
        text = data.decode("utf-8-sig")
        fixers = _FIXERS if _PAIRS_OF_FUNCTIONS.search(data) else (*_FIXERS, _PARAMETERS)
        return str(_tool(fixers).refactor_string(text if text.endswith("\n") else text + "\n", "a file")).encode()
    except Exception:  # noqa: BLE001 - its tokenizer, parser and fixers have no common base, and any text may come
        return None


def with_spaces(data: bytes) -> tuple[bytes, Mapping[int, int]]:
    """The text with spaces for the tabs that lines begin with, where both are mixed, and how far each line moved.

    What stands within a string of several lines stays as it is.
    """
    if len(data) > MAX_BYTES or not all(sign.search(data) for sign in _MIXED):
        return data, {}
    try:
        text = data.decode("utf-8-sig")
        inside = set(_inside_strings(text))
    except Exception:  # noqa: BLE001 - as above
        return data, {}
    moved, lines = {}, text.split("\n")
    for number, line in enumerate(lines, 1):
        tabs = _INDENTED.match(line) if number not in inside else None
        if tabs is not None:
            spaces = tabs[0].expandtabs(_TAB)
            lines[number - 1] = spaces + line[tabs.end() :]
            moved[number] = len(spaces) - len(tabs[0])
    return "\n".join(lines).encode(), moved


def _inside_strings(text: str) -> Iterator[int]:
    """The lines that begin within a string."""
    from fissix.pgen2 import token, tokenize

    for kind, _, (first, _), (last, _), _ in tokenize.generate_tokens(StringIO(text).readline):
        if kind == token.STRING:
            yield from range(first + 1, last + 1)


@cache
def _tool(fixers: tuple[str, ...]) -> RefactoringTool:
    from fissix.refactor import RefactoringTool  # takes a tenth of a second, and few trees need it

    return RefactoringTool([f"fissix.fixes.fix_{name}" for name in fixers])
