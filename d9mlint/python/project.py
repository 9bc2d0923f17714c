"""The files of a program: where an import leads, and the facts of each file, read once.

Linting reads untrusted code: nothing is imported or executed, no path outside the given roots is opened, and a
file larger than ``MAX_BYTES`` is refused.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from pathlib import Path

from d9mlint.python import facts as f

MAX_BYTES = 4_000_000
"""Largest Python source that is parsed; bigger ones are data in disguise."""

Reader = Callable[[str], "bytes | None"]
"""Bytes of the file with this ``/``-separated path, None where there is none (or where it leads out of the tree)."""


class CannotRead(Exception):
    """A file that cannot be checked; the text is the reason."""


def disk_reader(top: Path, cwd: Path) -> Reader:
    """A reader of real files below ``top``; paths are relative to ``cwd``. Links that leave ``top`` are not followed."""
    inside = top.resolve()
    known: dict[str, bool] = {}

    def read(path: str) -> bytes | None:
        real = cwd / path
        parent = str(real.parent)
        if parent not in known:
            known[parent] = real.parent.resolve().is_relative_to(inside)
        if not known[parent]:
            return None
        try:
            if real.is_symlink() and not real.resolve().is_relative_to(inside):
                return None
            if not real.is_file():
                return None
            if real.stat().st_size > MAX_BYTES:
                raise CannotRead(f"larger than {MAX_BYTES // 1_000_000} MB")
            return real.read_bytes()
        except OSError as error:
            raise CannotRead(f"cannot be read: {error.strerror or error}") from error

    return read


def parse(data: bytes, path: str) -> f.Facts:
    """The facts of a source text.

    Raises:
        CannotRead: not UTF-8 (or the encoding it declares), not Python 3, or nested beyond reason.
    """
    import libcst as cst

    from d9mlint.python.lower import TooDeep, lower

    if b"\0" in data:
        raise CannotRead("not a text file (it holds NUL bytes)")
    collecting = gc.isenabled()
    gc.disable()  # a syntax tree is all live objects: collecting while it grows only costs time
    try:
        return lower(cst.parse_module(data), path)
    except cst.ParserSyntaxError as error:
        hint = _python2_hint(data)
        raise CannotRead(f"syntax error at line {error.raw_line}{hint}") from error
    except (UnicodeDecodeError, LookupError) as error:
        raise CannotRead(f"not readable as text: {error}") from error
    except (TooDeep, RecursionError) as error:
        raise CannotRead("nested too deeply") from error
    except (SyntaxError, ValueError, cst.CSTValidationError) as error:
        raise CannotRead(f"cannot be parsed: {error}") from error
    finally:
        if collecting:
            gc.enable()


def _python2_hint(data: bytes) -> str:
    import re

    if re.search(rb"^[ \t]*print[ \t]+[\"'\w]|^[ \t]*except[ \t]+\w+[ \t]*,[ \t]*\w+[ \t]*:", data, re.MULTILINE):
        return " (it looks like Python 2)"
    return ""


class Project:
    """Import roots, the reader, and the facts of every file asked for so far."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._facts: dict[str, f.Facts | CannotRead | None] = {}
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
                self._facts[path] = None if data is None else parse(data, path)
            except CannotRead as error:
                self._facts[path] = error
        found = self._facts[path]
        if isinstance(found, CannotRead):
            raise found
        return found

    def find(self, dotted: str, roots: Iterable[str]) -> tuple[str, str] | None:
        """``(kind, path)`` of an absolute import: kind ``module``, ``package`` or ``folder`` (no ``__init__``)."""
        relative = dotted.replace(".", "/")
        for root in roots:
            found = self._at(join(root, relative))
            if found is not None:
                return found
        return None

    def _at(self, base: str) -> tuple[str, str] | None:
        if self.exists(base + "/__init__.py"):
            return ("package", base + "/__init__.py")
        if self.exists(base + ".py"):
            return ("module", base + ".py")
        return None


def join(root: str, relative: str) -> str:
    """``root/relative`` without a leading ``./``."""
    return relative if root in ("", ".") else f"{root.rstrip('/')}/{relative}"


def folder(path: str) -> str:
    """The folder part of a path; empty for a bare name."""
    return path.rpartition("/")[0] if "/" in path else ""
