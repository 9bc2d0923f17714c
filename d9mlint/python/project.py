"""The files of a program: where an import leads, and the facts of each file, read once.

Linting reads untrusted code: nothing is imported or executed.
"""

from __future__ import annotations

import gc

from d9mlint.python import facts as f
from d9mlint.python.reading import MAX_BYTES, CannotRead, Reader, disk_reader
from d9mlint.python.store import Store, content_hash, own_code

__all__ = ["MAX_BYTES", "CannotRead", "Project", "Reader", "disk_reader", "parse"]


def parse(data: bytes, path: str) -> f.Facts:
    """The facts of a source text.

    Raises:
        CannotRead: not UTF-8 (or the encoding it declares), not Python 3, or nested beyond reason.
    """
    import libcst as cst

    from d9mlint.python.lower import TooDeep, lower

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


class Project:
    """The reader, and the facts of every file asked for so far; ``store`` holds those of earlier runs."""

    def __init__(self, reader: Reader, store: Store | None = None) -> None:
        self._reader = reader
        self._store = store
        self._code = own_code("facts", "lower", "places", "project") if store is not None else ""
        self._facts: dict[str, f.Facts | CannotRead | None] = {}
        self._words: dict[int, frozenset[str]] = {}  # facts live as long as the project, so ids do
        self._reads: dict[int, frozenset[str]] = {}  # facts live as long as the project, so ids do
        self.sources: dict[str, bytes] = {}
        self.looked_up: dict[str, bool] = {}
        self.asked: set[str] = set()
        """Paths asked for, there or not, since somebody last cleared it: what a cached result rests on."""

    def data(self, path: str) -> bytes | None:
        """The bytes of a file, read once; None where there is none."""
        self.asked.add(path)
        if path in self.sources:
            return self.sources[path]
        if self.looked_up.get(path) is False:
            return None
        data = self._reader(path)
        self.looked_up[path] = data is not None
        if data is not None:
            self.sources[path] = data
        return data

    def exists(self, path: str) -> bool:
        """Whether the file is there (and can be read)."""
        try:
            return self.data(path) is not None
        except CannotRead:
            return True

    def facts(self, path: str) -> f.Facts | None:
        """The facts of a file; None where there is no such file.

        Raises:
            CannotRead: each time the file is asked for.
        """
        self.asked.add(path)
        if path not in self._facts:
            try:
                data = self.data(path)
                self._facts[path] = None if data is None else self._parse(data, path)
            except CannotRead as error:
                self._facts[path] = error
        found = self._facts[path]
        if isinstance(found, CannotRead):
            raise found
        return found

    def _parse(self, data: bytes, path: str) -> f.Facts:
        if self._store is None:
            return parse(data, path)
        key = content_hash(b"%s\0%s\0%s" % (self._code.encode(), path.encode("utf-8", "surrogateescape"), data))
        found = self._store.load(key, f.Facts)
        if found is None:
            found = parse(data, path)
            self._store.save(key, found)
        return found

    def words(self, node: f.Stmt | f.Lambda) -> frozenset[str]:
        """All names, attributes and texts in a statement or lambda expression."""
        if id(node) not in self._words:
            self._words[id(node)] = f.words(node)
        return self._words[id(node)]

    def reads(self, node: f.Facts | f.Stmt | f.Lambda) -> frozenset[str]:
        """All names in a file, statement or lambda expression but those that are only assigned to."""
        if id(node) not in self._reads:
            self._reads[id(node)] = f.reads(node)
        return self._reads[id(node)]

    def module_at(self, base: str) -> str | None:
        """The file of the package or module whose path without an ending is ``base``."""
        return next((path for path in (base + "/__init__.py", base + ".py") if self.exists(path)), None)
