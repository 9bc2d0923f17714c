"""The kernel sources of a folder: found, scanned, and remembered for as long as no file changes."""

from __future__ import annotations

import hashlib
import marshal
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from d9mlint import __version__
from d9mlint.cache import Store, code_hash
from d9mlint.discover import KERNEL_SOURCES, SKIPPED, SKIPPED_ENDINGS
from d9mlint.kernels.beside import beside
from d9mlint.model import KernelScan, Unchecked

if TYPE_CHECKING:
    from d9mlint.kernels.source.repository import Repository

BESIDES = (".py", ".pbtxt", ".yaml", ".yml", ".txt", ".cmake", ".toml", ".cfg")
"""What else the way to Python is written in."""
_WANTED = frozenset((*KERNEL_SOURCES, *BESIDES))
_PIECE = 1 << 16
"""Bytes that are asked for at once: most sources are smaller, and from 128 KB on memory costs calls of the system."""
_READING = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_FRESH = 2e9
"""Nanoseconds: a file changed so shortly before may change again without its time stamp showing it."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a folder that matter, by path relative to it, with a digest of their sizes and times."""

    root: Path
    paths: tuple[str, ...]
    digest: str
    newest: int
    unreadable: tuple[Unchecked, ...] = ()

    @property
    def sources(self) -> bool:
        """Whether there is anything that could hold a kernel."""
        return any(path.endswith((*KERNEL_SOURCES, ".py")) for path in self.paths)


def listing(root: Path) -> Listing:
    """Looks through a folder; links are not followed, virtual environments and the like are left out."""
    found: list[tuple[str, int, int]] = []
    unreadable: list[Unchecked] = []
    pending = [("", str(root))]
    while pending:
        inside, folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    name = entry.name
                    if name[name.rfind(".") :] in _WANTED and entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        found.append((inside + name, status.st_size, status.st_mtime_ns))
                    elif entry.is_dir(follow_symlinks=False) and not _skipped(name):
                        pending.append((f"{inside}{name}/", entry.path))
        except OSError as error:
            unreadable.append(Unchecked(inside or ".", f"cannot be read: {error.strerror or type(error).__name__}"))
    found.sort()
    # Version 2 writes equal data equally (later ones note which objects are the same), and much faster than `repr`.
    digest = hashlib.blake2b(marshal.dumps(found, 2), digest_size=16).hexdigest()
    paths = tuple(path for path, _, _ in found)
    return Listing(root, paths, digest, max((t for _, _, t in found), default=0), tuple(sorted(unreadable)))


@contextmanager
def listing_ahead(paths: Iterable[Path], jobs: int = 0) -> Iterator[Callable[[Path], Listing]]:
    """Has the first folder of ``paths`` looked through by another process, while this one imports what it needs.

    Yields what gives the listing of a folder, that of the first one once.
    """
    first = next((path for path in paths if path.is_dir()), None)
    if first is None:
        yield listing
        return
    with beside(lambda: listing(first), jobs) as begun:
        yield lambda folder: begun() if folder == first else listing(folder)


def _skipped(folder: str) -> bool:
    return folder in SKIPPED or folder.endswith(SKIPPED_ENDINGS)


def scan(
    files: Listing, *, cache: bool = True, jobs: int = 0, meanwhile: Callable[[], object] = lambda: None
) -> KernelScan:
    """The scan of a folder, paths relative to it; from the cache where no file has changed since.

    At most ``jobs`` processes, and never more than two, share the work; 0 is one a processor. ``meanwhile`` is done in
    this one while the other reads files.
    """
    store = Store.open("kernels") if cache else None
    key = _key(files)
    known = store.load(key, KernelScan) if store is not None else None
    if known is None:
        known = _scanned(repository(files), jobs, meanwhile)
        if store is not None and _may_be_kept(files, known):
            store.save(key, known)
            store.prune()
    return replace(known, unchecked=tuple(sorted({*known.unchecked, *files.unreadable})))


def _scanned(repository: Repository, jobs: int, meanwhile: Callable[[], object]) -> KernelScan:
    from d9mlint.kernels.ahead import looking_ahead

    with looking_ahead(repository, jobs):
        # Importing it takes as long as reading thousands of files, which another process does meanwhile.
        from d9mlint.kernels.scan import scan as scan_repository

        meanwhile()
        return scan_repository(repository, jobs)


def repository(files: Listing) -> Repository:
    """The files as the scanner wants them."""
    from d9mlint.kernels.source.repository import Repository

    root = f"{files.root}/"
    return Repository(files.paths, lambda path: _bytes(root + path))


def _bytes(path: str) -> bytes:
    """The bytes of a regular file, with fewer calls of the system than `open` makes: few bytes mean that it ends there.

    (POSIX, "read": fewer are returned only at the end of a file, to who is interrupted, or by what is no regular file.)
    """
    file = os.open(path, _READING)
    try:
        data = piece = os.read(file, _PIECE)
        while len(piece) == _PIECE:
            piece = os.read(file, _PIECE)
            data += piece
    finally:
        os.close(file)
    return data


def _key(files: Listing) -> str:
    text = repr((__version__, code_hash(("model", "kernels")), files.digest, str(files.root.resolve())))
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _may_be_kept(files: Listing, found: KernelScan) -> bool:
    crashed = any(one.reason.startswith("internal-error") for one in found.unchecked)
    return not crashed and time.time_ns() - files.newest > _FRESH
