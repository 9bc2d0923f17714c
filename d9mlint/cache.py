"""The user's cache folder: what earlier runs found out. Something that cannot be read is only slower.

What is kept is trusted as it stands (it is a pickle), so the folder must be the user's own and closed to others.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from d9mlint.writing import PRIVATE, replaced

_CHECK = 16
"""Bytes of the checksum in front of what is kept."""
_KEPT_DAYS = 30
_DAY = 86_400
_T = TypeVar("_T")


def cache_folder() -> Path | None:
    """``$XDG_CACHE_HOME/d9mlint`` or ``~/.cache/d9mlint``; None where there is no home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base and Path(base).is_absolute():
        return Path(base) / "d9mlint"
    try:
        return Path.home() / ".cache" / "d9mlint"
    except RuntimeError:
        return None


def content_hash(data: bytes) -> str:
    """What is remembered of a file."""
    return hashlib.blake2b(data, digest_size=12).hexdigest()


def code_hash(folders: Iterable[str], names: Collection[str] = ()) -> str:
    """Changes with the modules of these packages of d9mlint (with ``names``: only those of such names).

    So who works on them never sees what the old ones found.
    """
    package = Path(__file__).resolve().parent
    parts: list[tuple[str, int, int]] = []
    pending = [(str(package), False), *((str(package / name), True) for name in folders)]
    while pending:
        folder, deep = pending.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py") and (not names or entry.name[:-3] in names):
                    status = entry.stat()
                    parts.append((entry.path, status.st_size, status.st_mtime_ns))
                elif deep and entry.is_dir():
                    pending.append((entry.path, True))
    return content_hash(repr(sorted(parts)).encode())


class Store:
    """Things by key; a key holds everything that the thing depends on (of a unit: besides the files that it names)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def open(cls, kind: str) -> Store | None:
        """The user's, for one kind of things; None where there is no folder, or one that others could write to."""
        base = cache_folder()
        if base is None:
            return None
        folder = base / kind
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return cls(folder) if is_private(folder) else None
        except OSError:
            return None

    def load(self, key: str, kind: type[_T]) -> _T | None:
        """What is kept under ``key``, if it is there and whole."""
        try:
            with open(self._path(key), "rb") as file:  # noqa: PTH123 (once per file of a tree)
                data = file.read()
        except OSError:
            return None
        if hashlib.blake2b(data[_CHECK:], digest_size=_CHECK).digest() != data[:_CHECK]:
            return None
        try:
            found = pickle.loads(data[_CHECK:])
        except Exception:  # noqa: BLE001 - unpickling the data of another version raises anything
            return None
        return found if isinstance(found, kind) else None

    def save(self, key: str, thing: object) -> None:
        """Keeps ``thing`` under ``key``."""
        path = self._path(key)
        with suppress(OSError, RecursionError):
            data = pickle.dumps(thing, 5)
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
            replaced(Path(path), hashlib.blake2b(data, digest_size=_CHECK).digest() + data, PRIVATE)

    def prune(self) -> None:
        """Drops what is old, once a day: what was found out about changed files and rules is never asked for again."""
        now = time.time()
        last = self._folder / "pruned"
        with suppress(OSError):
            if last.exists() and 0 <= now - last.stat().st_mtime < _DAY:
                return
            last.touch()
            for path in sorted(self._folder.glob("??/*")):
                if path.stat().st_mtime < now - _KEPT_DAYS * _DAY:
                    path.unlink()

    def _path(self, key: str) -> str:
        return f"{self._folder}/{key[:2]}/{key}"


def is_private(folder: Path) -> bool:
    """Whether only the user can write to ``folder`` (always, where the system knows no owners)."""
    if os.name != "posix":
        return True
    status = folder.stat()
    return status.st_uid == os.geteuid() and not status.st_mode & stat.S_IWOTH
