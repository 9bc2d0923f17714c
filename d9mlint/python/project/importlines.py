"""The import lines of a file, by its bytes alone: before anything is parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator

ImportLine = tuple[int, str, tuple[str, ...]]
"""The dots of a relative import, the module, and the names out of it."""

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*(\([^)]{0,4000}\)|[^\n#]+)|import[ \t]+([^\n#]+))",
    re.MULTILINE,
)
_WORD = re.compile(rb"[\w.]+")


def import_lines(data: bytes) -> Iterator[ImportLine]:
    """The imports of a file by its lines alone; what only a program can work out is missed."""
    for dots, module, names, plain in _IMPORT.findall(data):
        if plain:
            for one in plain.split(b","):
                word = _WORD.search(one)
                if word:
                    yield 0, word[0].decode("utf-8", "replace"), ()
        else:
            words = (_WORD.search(one) for one in names.split(b","))
            yield (
                len(dots),
                module.decode("utf-8", "replace"),
                tuple(w[0].decode("utf-8", "replace") for w in words if w),
            )
