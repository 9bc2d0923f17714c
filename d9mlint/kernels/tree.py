"""The kernel sources of a folder: scanned, and the scan remembered for as long as no file changes."""

from __future__ import annotations

import gc
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from d9mlint import __version__
from d9mlint.cache import Store, code_hash
from d9mlint.kernels.listing import Listing
from d9mlint.model import KernelScan

if TYPE_CHECKING:
    from d9mlint.kernels.source.repository import Repository

_PIECE = 1 << 16
"""Bytes that are asked for at once: most sources are smaller, and from 128 KB on memory costs calls of the system."""
_READING = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_FRESH = 2e9
"""Nanoseconds: a file changed so shortly before may change again without its time stamp showing it."""


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

    with _uncollected(), looking_ahead(repository, jobs):
        # Importing it takes as long as reading thousands of files, which another process does meanwhile.
        from d9mlint.kernels.scan import scan as scan_repository

        meanwhile()
        return scan_repository(repository, jobs)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the garbage collector: what a scan makes it needs until its end, and goes through it in vain."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


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
