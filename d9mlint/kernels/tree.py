"""The kernel sources of a folder: scanned, and the scan remembered for as long as no file changes."""

from __future__ import annotations

import gc
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from d9mlint import __version__
from d9mlint.cache import Store, code_hash
from d9mlint.kernels.ahead import looking_ahead
from d9mlint.kernels.listing import Listing, stamp
from d9mlint.kernels.source.repository import Repository
from d9mlint.model import KernelScan

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
    started = time.time_ns()
    store = Store.open("kernels") if cache else None
    with _uncollected(), ExitStack() as stack:
        # A folder that was never scanned is read from now on, without a look at whether it has changed.
        scanned_before = store is not None and store.load(_key(files), bool)
        read = None if scanned_before else _read(files, jobs, stack)
        digest, newest = stamp(files) if store is not None else ("", started)
        key = _key(files, digest)
        known = store.load(key, KernelScan) if store is not None else None
        if known is None:
            read = read or _read(files, jobs, stack)
            # Importing it takes as long as reading thousands of files, which another process does meanwhile.
            from d9mlint.kernels.scan import scan as scan_repository

            meanwhile()
            known = scan_repository(read, jobs)
            if store is not None and _may_be_kept(known) and started - newest > _FRESH:
                store.save(key, known)
                store.save(_key(files), True)
                store.prune()
    return known._replace(
        unchecked=tuple(sorted({*known.unchecked, *files.unreadable})),
        skipped=tuple(sorted({*known.skipped, *files.skipped})),
    )


def _read(files: Listing, jobs: int, stack: ExitStack) -> Repository:
    """The files, which another process begins to read."""
    found = repository(files)
    stack.enter_context(looking_ahead(found, jobs))
    return found


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
    root = f"{files.root}/"
    return Repository(files.paths, lambda path: _bytes(root + path), files.unusual)


def overlaid(files: Listing, overlay: Mapping[str, bytes]) -> KernelScan:
    """The scan of a folder in which some files have other contents; nothing of it is remembered."""
    from d9mlint.kernels.scan import scan as scan_repository

    root = f"{files.root}/"
    with _uncollected():
        found = Repository(files.paths, lambda p: overlay[p] if p in overlay else _bytes(root + p), files.unusual)
        return scan_repository(found, 1)


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


def _key(files: Listing, digest: str = "") -> str:
    """Of the scan of these very files; without their digest, of whether the folder was scanned at all."""
    code = code_hash(("model", "kernels")) if digest else ""
    text = repr((__version__, code, digest, str(files.root.resolve())))
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _may_be_kept(found: KernelScan) -> bool:
    return not any(one.reason.startswith("internal-error") for one in found.unchecked)
