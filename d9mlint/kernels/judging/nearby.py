"""The files in which the definition of a type is looked for: this one, what it includes, what includes it."""

from __future__ import annotations

from collections.abc import Iterable

from d9mlint.kernels.source.repository import KERNEL_SUFFIXES, Repository, includes
from d9mlint.kernels.source.unit import Unit


def units(unit: Unit, repository: Repository, word: str) -> Iterable[Unit]:
    """This file, then those it includes (and those they include) that mention a word; found by their names."""
    yield unit
    wanted = word.encode()
    if not word:
        return
    for path in repository.derived(included, unit.path):
        if wanted in repository.data(path):
            found = repository.unit(path)
            if found is not None:
                yield found
    defining = (b"struct " + wanted, b"class " + wanted)
    for path in repository.derived(_further, unit.path):
        if any(head in repository.data(path) for head in defining):
            found = repository.unit(path)
            if found is not None:
                yield found
    if unit.path.endswith((".inl", ".inc", ".tpp", ".ipp", ".tcc", ".txx")):
        # A piece of source sees what the files that include it see.
        for path in sorted(repository.users(unit.path) - {unit.path}):
            if wanted in repository.data(path):
                found = repository.unit(path)
                if found is not None:
                    yield found
    for path in repository.sources:
        # Further includes: by the definition itself, in sources that are named as device code.
        if path.endswith(KERNEL_SUFFIXES) and b"struct " + wanted in repository.data(path):
            found = repository.unit(path)
            if found is not None:
                yield found


def included(repository: Repository, path: str) -> tuple[str, ...]:
    """The sources that a file includes, two levels deep; nearest first."""
    return _waves(repository, path)[0]


def _further(repository: Repository, path: str) -> tuple[str, ...]:
    """Those of the two levels behind these."""
    return _waves(repository, path)[1]


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
