"""Source texts as facts, read with libcst; what would exhaust its stack or its time is refused first."""

from __future__ import annotations

import gc

from d9mlint.python.source import facts as f
from d9mlint.python.source.reading import CannotRead


def parse(data: bytes, path: str) -> f.Facts:
    """The facts of a source text.

    Raises:
        CannotRead: not UTF-8 (or the encoding it declares), not Python 3, or nested beyond reason.
    """
    import libcst as cst

    from d9mlint.python.source.lowering import TooDeep, lower

    if b"\0" in data:
        raise CannotRead("not a text file (it holds NUL bytes)")
    _refuse_monsters(data)
    collecting = gc.isenabled()
    gc.disable()  # a syntax tree is all live objects: collecting while it grows only costs time
    try:
        return lower(cst.parse_module(data), path)
    except cst.ParserSyntaxError as error:
        hint = _python2_hint(data)
        raise CannotRead(f"syntax error at line {error.raw_line}{hint}") from error
    except (UnicodeDecodeError, LookupError) as error:
        raise CannotRead(f"not UTF-8 (or the encoding it declares): {error}") from error
    except (TooDeep, RecursionError) as error:
        raise CannotRead("nested too deeply") from error
    except (SyntaxError, ValueError, cst.CSTValidationError) as error:
        if "encoding declaration" in str(error):
            raise CannotRead("not UTF-8, and no encoding is declared") from error
        raise CannotRead(f"cannot be parsed: {error}") from error
    finally:
        if collecting:
            gc.enable()


_STRUCTURE = b"()[]{}+-*/%|&,\n"
_THE_REST = bytes(set(range(256)) - set(_STRUCTURE))
MAX_BRACKETS = 200
"""Brackets open at once; CPython itself refuses more."""
_ROUNDS = 12
"""Times that pairs of brackets with nothing left in between are taken out: what is left was deeper, or is text."""
MAX_OPERATORS = 1_500
"""Operators in one expression; libcst's time grows with the square of their number."""


def _refuse_monsters(data: bytes) -> None:
    """Keeps sources from libcst's parser that would exhaust its stack or its time: no person writes them.

    Raises:
        CannotRead: too many brackets are open at once, or an expression has too many operators.
    """
    structure = data.translate(None, _THE_REST)
    if _is_flat(structure):
        return
    depth = operators = 0
    for byte in structure:
        if byte in b"([{":
            depth += 1
            if depth > MAX_BRACKETS and _python_refuses(data):
                raise CannotRead("nested too deeply")
        elif byte in b")]}":
            depth = max(0, depth - 1)
        elif byte == ord(",") or (byte == ord("\n") and depth == 0):
            operators = 0
        elif byte != ord("\n"):
            operators += 1
            if operators > MAX_OPERATORS and data.count(b"#") + data.count(b'"') + data.count(b"'") < operators:
                raise CannotRead("an expression is too long")


def _is_flat(structure: bytes) -> bool:
    """A quick look at what nearly every file is: few brackets are open at once, and there are commas in between."""
    if max(map(len, structure.translate(None, b"()[]{}\n").split(b","))) > MAX_OPERATORS:
        return False
    left = structure.translate(None, b"+-*/%|&,\n")
    for _ in range(_ROUNDS):
        left = left.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
    return len(left) + _ROUNDS <= MAX_BRACKETS


def _python_refuses(data: bytes) -> bool:
    """Whether CPython's parser finds the nesting too deep (brackets in text and comments do not count for it)."""
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (RecursionError, MemoryError):
        return True
    except (SyntaxError, ValueError) as error:
        return "too many nested" in str(error)
    return False


def _python2_hint(data: bytes) -> str:
    import re

    if re.search(rb"^[ \t]*print[ \t]+[\"'\w]|^[ \t]*except[ \t]+\w+[ \t]*,[ \t]*\w+[ \t]*:", data, re.MULTILINE):
        return " (it looks like Python 2)"
    return ""
