"""Walks folders: Python files, C++ and CUDA sources, project metadata, what starts or configures programs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from d9mlint.discover.beside import MOST, is_beside
from d9mlint.discover.patterns import (
    SKIPPED_UNLESS_PACKAGES,
    Patterns,
    compiled,
    holds_no_code,
    ignored,
    outer_patterns,
    read_lines,
    with_own,
)
from d9mlint.discover.scripts import METADATA
from d9mlint.discover.settings import Settings, is_file, unreadable
from d9mlint.discover.tracked import Tracked
from d9mlint.model import Unchecked

PYTHON = (".py", ".ipynb")
"""Scripts, modules and notebooks."""
KERNEL_SOURCES = (
    ".cu", ".cuh", ".cc", ".h", ".hpp", ".cpp", ".cxx", ".c", ".hh", ".hxx", ".H", ".C", ".inc", ".inl", ".tpp", ".ipp",
    ".tcc", ".txx", ".hip", ".mm",
    ".ptx", ".hu", ".mu", ".muh", ".sycl", ".cu.in", ".cuh.in",
)  # fmt: skip
"""What a C++, CUDA, HIP, MUSA or SYCL source is called, also as a template of CMake (``.cuh.in``)."""


class File(NamedTuple):
    """A file that was found, and the real path that identifies it."""

    path: Path
    real: str
    link: bool = False
    runs: bool = False
    """Whether it is an entry by itself."""
    kernels: bool = False
    """Whether it may hold GPU kernels."""
    works: bool = False
    """Whether it does something when it is executed, and so is an entry where nothing imports it."""

    @property
    def rank(self) -> tuple[bool, int, str]:
        """Of several names of one file the smallest counts: no link where the file itself is at hand."""
        return (self.link, len(self.path.parts), str(self.path))


_PYTHON_LINE = re.compile(rb"#!.*\bpython[0-9.]*\b")
_MAX_FIRST_LINE = 200
"""Bytes: longer ones are no interpreter's path."""


class _Listing(NamedTuple):
    """What matters of one folder; names are sorted."""

    names: frozenset[str]
    """Those of ``.gitignore``, ``pyvenv.cfg``, ``__init__.py``, and of the metadata that are there."""
    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    """Files without an ending that are executable, or lie where a package keeps its commands."""


_COMMANDS = frozenset({"bin", "scripts"})
"""Folders whose files are made executable when a package is installed, whatever they are in its sources."""
_NOTED = frozenset({".gitignore", "pyvenv.cfg", "__init__.py", *METADATA})


def _list(folder: str) -> _Listing:
    """Raises OSError where the folder cannot be read. Data folders hold millions of files: keep none of their names."""
    noted: set[str] = set()
    files: list[str] = []
    links: list[str] = []
    folders: list[str] = []
    kernels: list[str] = []
    beside: list[str] = []
    bare: list[str] = []
    commands = os.path.basename(folder.rstrip("/")) in _COMMANDS  # noqa: PTH119 (a text, many times)
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
                continue
            if entry.name in _NOTED:
                noted.add(entry.name)
            if entry.name.endswith(PYTHON):
                if entry.is_symlink():
                    links.append(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
            elif entry.name.endswith(KERNEL_SOURCES) and entry.is_file(follow_symlinks=False):
                kernels.append(entry.name)
            elif is_beside(entry.name) and len(beside) <= MOST and entry.is_file(follow_symlinks=False):
                beside.append(entry.name)
            elif "." not in entry.name and len(bare) <= MOST and _is_command(entry, commands):
                bare.append(entry.name)
    if len(beside) > MOST:
        beside = []
    if len(bare) > MOST:
        bare = []
    kinds = (files, links, folders, kernels, beside, bare)
    return _Listing(frozenset(noted), *(tuple(sorted(names)) for names in kinds))


def _is_command(entry: os.DirEntry[str], among_commands: bool) -> bool:
    if not entry.is_file(follow_symlinks=False):
        return False
    return among_commands or entry.stat(follow_symlinks=False).st_mode & 0o111 != 0


def _is_python_script(path: Path) -> bool:
    """Whether the first line of a file says that Python executes it; what cannot be read says nothing."""
    try:
        with path.open("rb") as file:
            return _PYTHON_LINE.match(file.readline(_MAX_FIRST_LINE)) is not None
    except OSError:
        return False


def walk(top: Path, config: Settings) -> Iterator[File | Unchecked]:
    """Python files and project metadata below ``top``, in a fixed order; linked folders are never entered."""
    base = os.path.realpath(top).rstrip("/") + "/"
    try:
        always, chain = outer_patterns(base, config)
    except OSError as error:  # a .gitignore above
        yield unreadable(top, error)
        return
    stack, tracked = [("", chain)], Tracked(base)
    while stack:
        relative, chain = stack.pop()
        here, real = top / relative, base + relative
        try:
            listing = _list(str(here))
            if ".gitignore" in listing.names:
                chain = (Patterns(real, compiled(read_lines(here / ".gitignore"))), *chain)
        except OSError as error:
            yield unreadable(here, error)
            continue
        if relative and not _is_users_own(real, listing, always):
            continue
        files = [File(here / name, real + name) for name in listing.files]
        links = (File(here / name, os.path.realpath(real + name), link=True) for name in listing.links)
        files += [file for file in links if file.real.startswith(base) and is_file(file.real)]
        yield from (file for file in files if not ignored(real + file.path.name, always, chain, tracked))
        bare = (name for name in listing.bare if not ignored(real + name, always, chain, tracked))
        yield from (File(here / n, real + n, runs=True) for n in bare if _is_python_script(here / n))
        yield from (File(here / name, real + name) for name in METADATA if name in listing.names)
        others = (*listing.kernels, *listing.beside)
        yield from (File(here / n, real + n) for n in others if not ignored(real + n, always, chain, tracked))
        for name in reversed(listing.folders):
            folder = f"{real}{name}/"
            if not _skipped(folder, always) and not ignored(folder, always, chain, tracked):
                stack.append((f"{relative}{name}/", chain))


def _skipped(folder: str, always: Iterable[Patterns]) -> bool:
    """Whether the folder's name says that it holds no code of the user (unless the configuration says otherwise)."""
    name = folder.rstrip("/").rpartition("/")[2]
    if not holds_no_code(name):
        return False
    return all(patterns.verdict(folder) is not False for patterns in always)


def _is_users_own(folder: str, listing: _Listing, always: Iterable[Patterns]) -> bool:
    """Whether the folder's content speaks against a virtual environment or a build product."""
    name = folder.rstrip("/").rpartition("/")[2]
    product = name in SKIPPED_UNLESS_PACKAGES and "__init__.py" not in listing.names
    if not product and "pyvenv.cfg" not in listing.names:
        return True
    return any(patterns.verdict(folder) is False for patterns in always)


def left_out(top: Path, paths: Iterable[str], config: Settings) -> frozenset[str]:
    """Those of ``paths`` (relative to the folder ``top``) that the configuration or a .gitignore excludes.

    For who has found files by other means and asks only about a few of them.
    """
    base = os.path.realpath(top).rstrip("/") + "/"
    always, outer = outer_patterns(base, config)
    tracked = Tracked(base)
    chains: dict[str, tuple[Patterns, ...] | None] = {"": with_own(top, base, outer)}

    def chain(folder: str) -> tuple[Patterns, ...] | None:
        """The patterns that hold in a folder; None where the folder is excluded as a whole."""
        if folder not in chains:
            above = chain(folder.rpartition("/")[0])
            out = above is None or ignored(f"{base}{folder}/", always, above, tracked)
            chains[folder] = None if out or above is None else with_own(top / folder, f"{base}{folder}/", above)
        return chains[folder]

    found = set()
    for path in paths:
        here = chain(path.rpartition("/")[0])
        if here is None or ignored(base + path, always, here, tracked):
            found.add(path)
    return frozenset(found)
