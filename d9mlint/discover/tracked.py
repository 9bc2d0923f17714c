"""The files that git tracks: of those its ignore patterns say nothing (gitignore(5))."""

from __future__ import annotations

import os
import struct
from functools import cached_property
from pathlib import Path

_MAX_BYTES = 200_000_000
_HEADER = struct.Struct(">4sLL")
_ENTRY = struct.Struct(">40x20xH")
"""Times, owner and size, the hash, the flags; then the name (gitformat-index(5))."""
_EXTENDED = 0x4000
_SHORTENED = 4
"""The version in which a name says how much of the one before it still holds."""


class Tracked:
    """What git tracks in the repository that a folder lies in; its index is only read when somebody asks."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def holds(self, path: str) -> bool:
        """Whether a file is tracked, or anything in a folder (whose path ends in ``/``); paths are absolute, real."""
        return path in self._paths

    @cached_property
    def repository(self) -> Path | None:
        """Where the repository is; None where there is none, and ignore files mean nothing."""
        return repository_of(self._folder)

    @cached_property
    def _paths(self) -> frozenset[str]:
        found: set[str] = set()
        for name in tracked(self.repository) if self.repository is not None else ():
            path = f"{str(self.repository).rstrip('/')}/{name}"
            while path not in found:
                found.add(path)
                path = path.rstrip("/").rpartition("/")[0] + "/"
        return frozenset(found)


def repository_of(folder: Path) -> Path | None:
    """The nearest folder, this one or one above, that is a working tree of git; None where there is none."""
    return next((one for one in (folder, *folder.parents) if os.path.lexists(one / ".git")), None)


def tracked(repository: Path) -> frozenset[str]:
    """Paths, relative to the repository, of the files in its index; nothing where the index cannot be read."""
    index = repository / ".git" / "index"
    try:
        if not index.is_file() or index.stat().st_size > _MAX_BYTES:
            return frozenset()
        return frozenset(name.decode("utf-8", "surrogateescape") for name in _names(index.read_bytes()))
    except (OSError, ValueError, struct.error, IndexError):
        return frozenset()


def _names(data: bytes) -> list[bytes]:
    """The names in an index.

    Raises:
        ValueError, IndexError, struct.error: it is none, or is cut short.
    """
    magic, version, count = _HEADER.unpack_from(data)
    if magic != b"DIRC" or not 2 <= version <= _SHORTENED:
        raise ValueError("not an index of git")
    names: list[bytes] = []
    at = _HEADER.size
    for _ in range(count):
        start = at
        (flags,) = _ENTRY.unpack_from(data, at)
        at += _ENTRY.size + (2 if flags & _EXTENDED else 0)
        kept = b""
        if version == _SHORTENED:
            dropped, at = _number(data, at)
            kept = names[-1][: len(names[-1]) - dropped] if names else b""
        end = data.index(b"\0", at)
        names.append(kept + data[at:end])
        at = end + 1 if version == _SHORTENED else start + (end - start + 8) // 8 * 8
    return names


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number in git's variable width, and where what follows it begins."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = ((value + 1) << 7) | (data[at] & 0x7F)
    return value, at + 1
