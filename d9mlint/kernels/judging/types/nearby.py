"""The files in which the definition of a type is looked for: this one, what it includes, what includes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from d9mlint.kernels.source.repository import KERNEL_SUFFIXES, Repository, includes
from d9mlint.kernels.source.unit import Unit

_PIECES = (
    ".inl", ".inc", ".tpp", ".ipp", ".tcc", ".txx",
    *(f"{part}{end}" for part in ("_impl", "-impl", "_inl", "-inl") for end in (".h", ".hpp", ".cuh", ".hh")),
)  # fmt: skip
"""Files that are included at the end of what declares the classes of their functions."""
_FEW = 2
"""Of a class that so many files define, each is looked at, wherever it is."""


def units(unit: Unit, repository: Repository, word: str) -> Iterable[Unit]:
    """This file, then those it includes (and those they include) that mention a word; found by their names."""
    yield unit
    if not word:
        return
    wanted = word.encode()
    seen = {unit.path}
    for path in _paths(unit.path, repository, word):
        if path in seen:
            continue
        seen.add(path)
        found = repository.unit(path) if wanted in repository.data(path) else None
        if found is not None:
            yield found


def _paths(path: str, repository: Repository, word: str) -> Iterator[str]:
    yield from repository.derived(included, path)
    elsewhere = repository.derived(_elsewhere, word)
    further = repository.derived(_further, path) if elsewhere else frozenset()
    yield from (other for other in elsewhere if other in further)
    if path.endswith(_PIECES):
        # A piece of source sees what the files that include it see.
        yield from sorted(repository.users(path))
    # Further includes, also by other roots: by the definition itself, in device code or where there are few.
    yield from (other for other in elsewhere if other.endswith(KERNEL_SUFFIXES) or len(elsewhere) <= _FEW)


def _elsewhere(repository: Repository, word: str) -> tuple[str, ...]:
    """The sources that define a class."""
    wanted = word.encode()
    return tuple(path for path in repository.holding(wanted) if _defines(repository.data(path), wanted))


def _defines(data: bytes, word: bytes) -> bool:
    """Whether a class of this name has its body in a source."""
    if b"struct " + word not in data and b"class " + word not in data:
        return False
    return re.search(rb"\b(?:struct|class) " + re.escape(word) + rb"\b[^;{}()=]*\{", data) is not None


def included(repository: Repository, path: str) -> tuple[str, ...]:
    """The sources that a file includes, two levels deep; nearest first."""
    return _waves(repository, path)[0]


def _further(repository: Repository, path: str) -> frozenset[str]:
    """Those of the two levels behind these."""
    return frozenset(_waves(repository, path)[1])


def _waves(repository: Repository, path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found: dict[str, None] = {}
    wave = [path]
    near = 0
    for level in range(4):
        following = [t for source in wave for t in repository.derived(includes, source) if t not in found]
        found.update(dict.fromkeys(t for t in following if t != path))
        wave = following
        near = len(found) if level < 2 else near
    return tuple(found)[:near], tuple(found)[near:]
