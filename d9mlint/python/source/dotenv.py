"""The variables of a file ``.env``, as python-dotenv reads it.

Source: python-dotenv 1.2, dotenv/parser.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.python.source import facts as f

MAX_BYTES = 64_000
_BINDING = re.compile(
    r"^[^\S\r\n]*(?:export[^\S\r\n]+)?([^=#\s'\"]+)[^\S\r\n]*=[^\S\r\n]*"
    r"(?:'((?:\\.|[^'\\]){0,2000})'|\"((?:\\.|[^\"\\]){0,2000})\"|(?!['\"])([^\r\n]*))",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(r"\s+#.*")
_ESCAPE = re.compile(r"\\([\\'\"])")


def variables(text: str) -> Iterator[tuple[str, str | None, f.Place]]:
    """Name, value (None where it is put together from others) and place of each variable."""
    for match in _BINDING.finditer(text):
        name, single, double, plain = match.groups()
        value = _COMMENT.sub("", plain).rstrip() if plain is not None else _ESCAPE.sub(r"\1", single or double or "")
        before = text.rfind("\n", 0, match.start(1)) + 1
        line = text.count("\n", 0, before) + 1
        column, end = match.start(1) - before + 1, match.end() - before + 1
        if "\n" in match[0]:
            end = match.end(1) - before + 1
        yield name, None if "${" in value else value, (line, column, line, end)
