"""Source texts as facts, read with libcst; what would exhaust its stack or its time is refused first."""

from __future__ import annotations

import ast
import gc
import re
import warnings
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice

from d9mlint.python.source import facts as f
from d9mlint.python.source import marimo, python2
from d9mlint.python.source.reading import CannotRead
from d9mlint.python.source.sections import is_large, sections


def parse(data: bytes, path: str) -> f.Facts:
    """The facts of a source text.

    Raises:
        CannotRead: not UTF-8 (or the encoding it declares), not Python 3, or nested beyond reason.
    """
    import libcst as cst

    from d9mlint.python.source.lowering import TooDeep

    if b"\0" in data:
        raise CannotRead("not a text file (it holds NUL bytes)")
    tree = _refuse_monsters(data)
    collecting = gc.isenabled()
    gc.disable()  # a syntax tree is all live objects: collecting while it grows only costs time
    try:
        return _read(data, path, tree)
    except cst.ParserSyntaxError as error:
        spaced, moved = python2.with_spaces(data)
        converted = python2.as_python3(spaced) or (spaced if moved else None)
        if converted is not None and _line_of_error(converted) is None:
            return _read(converted, path, None, moved)
        line = _line_of_error(data)
        if line is None:
            raise CannotRead(f"cannot be parsed (libcst stops at line {error.raw_line})") from error
        raise CannotRead(_syntax_error(line, data)) from error
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


def _read(data: bytes, path: str, tree: ast.Module | None, moved: Mapping[int, int] = {}) -> f.Facts:
    body = _statements(data, tree, moved)
    return f.Facts(path, marimo.as_script(body) if marimo.NAME in data else body)


def _statements(data: bytes, tree: ast.Module | None, moved: Mapping[int, int]) -> tuple[f.Stmt, ...]:
    """The statements of a text, section by section where it is large; ``tree`` is what Python's parser has read.

    By as many columns as ``moved`` says, a line stands further to the left in the file.
    """
    import libcst as cst

    from d9mlint.python.source.lowering import lower

    if is_large(data):
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError, cst.ParserSyntaxError):
            parts = sections(data, tree or python_tree(data))
            return tuple(s for before, part in parts for s in lower(cst.parse_module(part), before, moved))
    return lower(cst.parse_module(data), 0, moved)


def check(data: bytes, path: str) -> None:
    """Looks only whether a source text can be read; libcst is asked where Python's own parser says no.

    Raises:
        CannotRead: as `parse`.
    """
    _refuse_monsters(data)
    try:
        python_tree(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        parse(data, path)


MAX_LINKS = 450
"""Nodes of a syntax tree inside each other but operators; libcst's time, and its stack, grow with their square."""
MAX_OPERATORS = 1_500
"""Operators in one expression; libcst's time grows with the square of their number."""
_GLANCED = MAX_LINKS - 50
"""Links that pass at a glance: what they stand in is nested, too."""
_CHAINED = _GLANCED // 2
"""The same for calls and items in a chain, each of which is two links: what is taken, and what is done with it."""
_MAX_DOTS = 100
"""Dots in the name of an imported module."""
_LONG = 2_000
"""Bytes of a line that make a closer look worth it."""
_LINK = re.compile(rb"[)\]]\s*[.(\[]|^\s*\.", re.MULTILINE)
"""Where something is taken of what a call or an item gives."""
_OPERATORS = (ast.BinOp, ast.BoolOp, ast.Compare)


def _refuse_monsters(data: bytes) -> ast.Module | None:
    """Keeps sources from libcst's parser that would exhaust its stack or its time: no person writes them.

    Nearly every file is seen at a glance to be none. What may be one is read by Python's own parser, which is quick and
    says how deep it is; that tree is given back.

    Raises:
        CannotRead: something is nested too deeply, or an expression has too many operators.
    """
    if _is_plain(data):
        return None
    try:
        tree = python_tree(data)
    except (RecursionError, MemoryError) as error:
        raise CannotRead("nested too deeply") from error
    except (SyntaxError, ValueError) as error:
        if "too many nested" in str(error):
            raise CannotRead("nested too deeply") from error
        if _is_long(data):  # libcst need not try
            line = getattr(error, "lineno", None) or 1
            raise CannotRead(_syntax_error(line, data)) from error
        return None
    _measure(tree)
    return tree


def _is_plain(data: bytes) -> bool:
    """Whether lines are short, and few links and operators follow each other."""
    if _is_long(data) or max(map(len, data.split(b","))) > 4 * _LONG:
        return False
    if sum(1 for _ in islice(_LINK.finditer(data), _CHAINED)) == _CHAINED:
        return False
    left = data.translate(None, _THE_REST)  # the brackets, links and operators, also those in texts
    return max(map(len, left.translate(None, b"()[]{}\n").split(b","))) <= _GLANCED and _is_flat(left)


def _is_long(data: bytes) -> bool:
    return max(map(len, data.split(b"\n"))) > _LONG


_STRUCTURE = b"()[]{}.+-*/%|&,\n"
_THE_REST = bytes(set(range(256)) - set(_STRUCTURE))
_MAX_BRACKETS = 200
"""Brackets open at once; CPython itself refuses more."""
_ROUNDS = 12
"""Times that pairs of brackets with nothing left in between are taken out: what is left was deeper, or is text."""


def _is_flat(structure: bytes) -> bool:
    left = structure.translate(None, b".+-*/%|&,\n")
    for _ in range(_ROUNDS):
        left = left.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
    return len(left) + _ROUNDS <= _MAX_BRACKETS


def _measure(tree: ast.AST) -> None:
    pending: list[tuple[ast.AST, int, int]] = [(tree, 0, 0)]
    while pending:
        node, links, operators = pending.pop()
        if isinstance(node, _OPERATORS):
            operators += len(getattr(node, "values", ())) or len(getattr(node, "ops", ())) or 1
        elif isinstance(node, ast.stmt):
            links, operators = links + 1, 0
        else:
            links += 1
        dots = max((name.name.count(".") for name in node.names), default=0) if isinstance(node, ast.Import) else 0
        if links > MAX_LINKS or dots > _MAX_DOTS:
            raise CannotRead("nested too deeply")
        if operators > MAX_OPERATORS:
            raise CannotRead("an expression is too long")
        pending += [(child, links, operators) for child in ast.iter_child_nodes(node)]


def _line_of_error(data: bytes) -> int | None:
    """Where Python's own parser finds an error; None where it finds none, or does not say."""
    error = _error(data)
    return error.lineno if error is not None else None


def _error(data: bytes) -> SyntaxError | None:
    """What Python's own parser finds wrong, if it says so."""
    try:
        python_tree(data)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def python_tree(data: bytes) -> ast.Module:
    """What Python's own parser reads, without a word of what it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(data)


def is_python2(data: bytes) -> bool:
    """Whether a source text has what only Python 2 reads."""
    return python2.looks_like(data) and _line_of_error(data) is not None


def mixed_tabs(data: bytes) -> int | None:
    """The line of a block that is indented with tabs and with spaces, as Python 2 alone reads it; None without one."""
    if b"\n\t" not in data or b"\n " not in data:
        return None
    error = _error(data)
    return error.lineno if isinstance(error, TabError) else None


def _syntax_error(line: int, data: bytes) -> str:
    return f"syntax error at line {line}{_python2_hint(data)}"


def _python2_hint(data: bytes) -> str:
    return " (it looks like Python 2)" if python2.looks_like(data) else ""
