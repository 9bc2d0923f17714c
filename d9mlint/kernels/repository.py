"""The files of a checkout, each read once and parsed at most once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from d9mlint.kernels.unit import Unit, parsed

SUFFIXES = (
    ".cu", ".cuh", ".cc", ".h", ".hpp", ".cpp", ".cxx", ".c", ".hh", ".hxx", ".inc", ".inl", ".tpp", ".hip", ".mm",
    ".ptx",
)  # fmt: skip
"""What a C++, CUDA or HIP source is called."""
MAX_BYTES = 4_000_000
"""Larger files are generated tables, not kernels written by hand."""


class Repository:
    """Sources by path (``/``-separated, as reports show them), bytes and trees on demand.

    ``read`` gives the bytes of a path and raises ``OSError``; ``paths`` are all files of the tree, of any kind.
    """

    def __init__(self, paths: Iterable[str], read: Callable[[str], bytes]) -> None:
        self.paths = tuple(sorted(paths))
        self.sources = tuple(p for p in self.paths if p.endswith(SUFFIXES))
        self.unchecked: dict[str, str] = {}
        self._read = read
        self._data: dict[str, bytes] = {}
        self._units: dict[str, Unit | None] = {}

    def data(self, path: str) -> bytes:
        """The bytes of a file; empty (and named in ``unchecked``) where it cannot be read."""
        if path not in self._data:
            try:
                self._data[path] = self._read(path)
            except OSError as error:
                self.unchecked[path] = f"cannot be read: {error.strerror or error}"
                self._data[path] = b""
        return self._data[path]

    def unit(self, path: str) -> Unit | None:
        """The parsed file; None (and named in ``unchecked``) where it is no source that can be parsed."""
        if path not in self._units:
            data = self.data(path)
            problem = _problem(data)
            if problem:
                self.unchecked.setdefault(path, problem)
            self._units[path] = None if problem or not data else parsed(path, data)
        return self._units[path]

    def mentioning(self, *words: bytes) -> list[str]:
        """The C++/CUDA sources whose bytes hold one of the words."""
        return [p for p in self.sources if any(w in self.data(p) for w in words)]


def _problem(data: bytes) -> str:
    if b"\0" in data:
        return "not a text file (it holds NUL bytes)"
    return f"larger than {MAX_BYTES // 1_000_000} MB" if len(data) > MAX_BYTES else ""


def of_tree(root: Path, base: Path) -> Repository:
    """The repository below ``root``, its paths relative to ``base``; links are not followed."""
    paths: list[str] = []
    pending = [str(root)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in (".git", ".hg", ".svn"):
                        pending.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    paths.append(os.path.relpath(entry.path, base).replace(os.sep, "/"))
    return Repository(paths, lambda path: (base / path).read_bytes())
