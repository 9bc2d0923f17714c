"""Text by the columns that it takes on a terminal, where some characters take two and some none."""

from __future__ import annotations

import re
import textwrap
import unicodedata

_SECOND = "\ue000"
"""Stands for the second column of a wide character while text is wrapped; for private use, so no other text has it."""

_SPACE = "\ue001"
"""Stands for a space within code while text is wrapped: broken by the end of a line it cannot be pasted."""
_CODE = re.compile(r"`[^`]{1,120}`")


def display_width(text: str) -> int:
    """Terminal columns that printable ``text`` takes."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def wrapped(text: str, width: int, most: int | None = None) -> list[str]:
    """``text`` in lines of at most ``width`` columns; of ``most`` lines the last ends in dots where there is more.

    Code in backquotes stays on one line, even where it alone is longer than that, unless lines are cut off.
    """
    if most is None:
        text = _CODE.sub(lambda code: code[0].replace(" ", _SPACE), text)
    if not text.isascii():
        text = "".join(one + _SECOND if _character_width(one) == 2 else one for one in text)
    lines = textwrap.wrap(
        text, width, max_lines=most, placeholder=" ...", break_long_words=False, break_on_hyphens=False
    )
    return lines if text.isascii() else [line.replace(_SECOND, "").replace(_SPACE, " ") for line in lines]
