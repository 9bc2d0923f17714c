"""The files of the working directory that a run has written: found by their state, and told apart by their content."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

_MOST = 20_000
"""Files that are looked at; a folder with more is not searched to its end, which is told."""
_IGNORED = {"__pycache__", ".git", ".hg", "node_modules", ".venv", "venv", "site-packages"}
_ADDRESS = re.compile(rb" at 0x[0-9A-Fa-f]+")
State = dict[str, tuple[int, int, int]]


def state(folder: Path) -> tuple[State, bool]:
    """Size, time and inode of each file below ``folder``, and whether these are all."""
    found: State = {}
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if one not in _IGNORED)
        for name in sorted(names):
            path = os.path.join(top, name)  # noqa: PTH118
            try:
                known = os.lstat(path)
            except OSError:
                continue
            found[path] = (known.st_size, known.st_mtime_ns, known.st_ino)
            if len(found) >= _MOST:
                return found, False
    return found, True


def written(before: Mapping[str, object], after: Mapping[str, object], named: Iterable[str]) -> dict[str, str]:
    """By path, a digest of what the run has written: what changed in the folder, and what it was seen to open."""
    changed = {path for path, known in after.items() if before.get(path) != known}
    return {path: text for path in sorted({*changed, *named}) if (text := content(Path(path)))}


def content(path: Path) -> str:
    """A digest of a file's content; empty where it is no plain file any more."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as stream:
            found = hashlib.blake2b(digest_size=8)
            while block := stream.read(1 << 20):
                found.update(block)
        return found.hexdigest()
    except OSError:
        return ""


def output(path: Path) -> str:
    """A digest of what a program has written; without the addresses that Python shows objects with."""
    found = hashlib.blake2b(digest_size=8)
    try:
        with path.open("rb") as stream:
            while line := stream.readline(1 << 20):
                found.update(_ADDRESS.sub(b" at 0x", line))
    except OSError:
        return ""
    return found.hexdigest()


def tail(path: Path, size: int) -> str:
    """The end of a file as text; empty where it cannot be read."""
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - size))
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""
