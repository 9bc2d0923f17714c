"""A copy of a program's folder in which patched files stand in the place of the user's, who keeps his as they are."""

from __future__ import annotations

import os
import shutil
import stat
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_LARGE = 2**20
"""Files of more bytes are linked to, unless they are patched: data, checkpoints."""
_MOST = 20_000
"""Files and folders that are copied; deeper ones are links to the user's."""
_LINKED = {".git", ".hg", "node_modules", ".venv", "venv", "site-packages"}
_LEFT_OUT = {"__pycache__"}


class Copy(NamedTuple):
    """Where a folder was copied to."""

    top: Path
    folder: Path
    whole: bool
    """Whether no folder is a link for want of room."""

    def path(self, path: Path) -> Path:
        """Where a path is found in the copy; one from outside stays."""
        real = Path(os.path.realpath(path))
        return self.folder / real.relative_to(self.top) if real.is_relative_to(self.top) else path


def top_of(script: Path, cwd: Path, patched: Sequence[Path]) -> Path:
    """The smallest folder with the program, its patched files, and the working directory if the program lies in it.

    Where these have nothing but the root in common, it is the program's own folder.
    """
    own = Path(os.path.realpath(script)).parent
    here = Path(os.path.realpath(cwd))
    first = here if own.is_relative_to(here) else own
    top = Path(os.path.commonpath([first, *(Path(os.path.realpath(one)).parent for one in patched)]))
    return first if top == Path(top.anchor) else top


def copied(top: Path, destination: Path, patched: Mapping[Path, bytes]) -> Copy:
    """Copies ``top`` into ``destination``, with other contents for the files that are patched.

    Raises:
        OSError: it cannot be read, or there is no room.
    """
    folder = destination / (top.name or "copy")
    real = {Path(os.path.realpath(path)): data for path, data in patched.items()}
    needed = {parent for path in real for parent in path.parents}
    whole = True
    for number, (source, target, known) in enumerate(_entries(top, folder, needed)):
        if stat.S_ISDIR(known.st_mode):
            if source.name in _LINKED or (number > _MOST and source not in needed):
                whole = whole and source.name in _LINKED
                target.symlink_to(source, target_is_directory=True)
            else:
                target.mkdir(parents=True)
        elif source in real:
            target.write_bytes(real[source])
            shutil.copymode(source, target)
        elif stat.S_ISREG(known.st_mode) and known.st_size <= _LARGE:
            shutil.copy2(source, target)
        elif stat.S_ISREG(known.st_mode) or stat.S_ISLNK(known.st_mode):
            target.symlink_to(os.path.realpath(source))
    return Copy(top, folder, whole)


def _entries(top: Path, folder: Path, needed: set[Path]) -> Iterator[tuple[Path, Path, os.stat_result]]:
    """What lies in ``top``, itself first, shallow before deep; folders that became links are not entered."""
    waiting = deque([(top, folder)])
    yield top, folder, top.stat()
    while waiting:
        source, target = waiting.popleft()
        for one in sorted(source.iterdir()):
            if one.name in _LEFT_OUT or one == folder.parent:  # the temporary folder may lie in the program's
                continue
            other = target / one.name
            known = one.lstat()
            yield one, other, known
            if stat.S_ISDIR(known.st_mode) and not other.is_symlink():
                waiting.append((one, other))
