"""The kernel sources of a folder, and what else the way to Python is written in: cheap to ask, and to import."""

from __future__ import annotations

import hashlib
import marshal
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from d9mlint.discover import KERNEL_SOURCES, holds_no_code
from d9mlint.kernels import submodules, unusual
from d9mlint.kernels.beside import beside
from d9mlint.kernels.source.looks import ending
from d9mlint.model import Unchecked

BESIDES = (".py", ".pyx", ".pxd", ".pbtxt", ".yaml", ".yml", ".txt", ".cmake", ".toml", ".cfg")
"""What else the way to Python is written in."""
FOREIGN = (".metal", ".cl", ".comp", ".glsl", ".hlsl", ".wgsl", ".slang", ".jl", ".mojo")
"""Kernels of other languages, which are only named."""
_WANTED = frozenset((*KERNEL_SOURCES, *BESIDES, *FOREIGN))


class Listing(NamedTuple):
    """The files of a folder that matter, by path relative to it, sorted."""

    root: Path
    paths: tuple[str, ...]
    unreadable: tuple[Unchecked, ...] = ()
    unusual: tuple[str, ...] = ()
    """Those of the paths that are C++ by what they hold, not by their names."""
    skipped: tuple[Unchecked, ...] = ()
    """Files besides that hold calls of atomics and are no C++."""

    @property
    def sources(self) -> bool:
        """Whether there is anything that could hold a kernel."""
        named = any(path.endswith((*KERNEL_SOURCES, *FOREIGN, ".py")) for path in self.paths)
        return named or bool(self.unusual or self.skipped)


def listing(root: Path) -> Listing:
    """Looks through a folder; links are not followed, virtual environments and the like are left out."""
    found: list[str] = []
    others: list[str] = []
    unreadable: list[Unchecked] = []
    pending = [("", str(root))]
    while pending:
        inside, folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    name = entry.name
                    if ending(name) in _WANTED and entry.is_file(follow_symlinks=False):
                        found.append(inside + name)
                    elif unusual.may_be_source(name) and entry.is_file(follow_symlinks=False):
                        others.append(inside + name)
                    elif entry.is_dir(follow_symlinks=False) and not holds_no_code(name):
                        pending.append((f"{inside}{name}/", entry.path))
        except OSError as error:
            unreadable.append(Unchecked(inside or ".", f"cannot be read: {error.strerror or type(error).__name__}"))
    besides = unusual.looked_into(str(root), others)
    skipped = (Unchecked(path, "atomics of an unknown language are not looked at") for path in besides.atomics)
    paths = tuple(sorted((*found, *besides.sources)))
    files = Listing(root, paths, tuple(sorted(unreadable)), besides.sources, tuple(skipped))
    return files._replace(skipped=(*files.skipped, *submodules.missing(root))) if files.sources else files


def stamp(files: Listing) -> tuple[str, int]:
    """A digest of the names, sizes and times of files; the time of the newest, in nanoseconds."""
    found = []
    for path in files.paths:
        try:
            status = os.lstat(f"{files.root}/{path}")
        except OSError:  # gone since
            found.append((path, -1, 0))
        else:
            found.append((path, status.st_size, status.st_mtime_ns))
    # Version 2 writes equal data equally (later ones note which objects are the same), and much faster than `repr`.
    digest = hashlib.blake2b(marshal.dumps(found, 2), digest_size=16).hexdigest()
    return digest, max((time for _, _, time in found), default=0)


@contextmanager
def listing_ahead(first: Path, jobs: int = 0) -> Iterator[Callable[[Path], Listing]]:
    """Has a folder looked through by another process, while this one imports what it needs.

    Yields what gives the listing of a folder, that of ``first`` once.
    """
    with beside(lambda: listing(first), jobs) as begun:
        yield lambda folder: begun() if folder == first else listing(folder)
