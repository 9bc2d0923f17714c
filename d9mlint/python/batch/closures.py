"""What the entries of a run have in common: the files that several reach, and those in which nothing matters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from d9mlint.python.batch.screen import Screen
from d9mlint.python.project.reach import Reach


def quiet_files(
    screen: Screen, reach: Reach, own: Mapping[str, Sequence[str]], roots: Mapping[str, tuple[str, ...]]
) -> dict[str, frozenset[str]]:  # fmt: skip
    """By entry, the files that it reaches, and that hold and reach nothing which a rule is about."""
    closures: dict[str, Callable[[], Iterable[str]]] = {}
    for entry, paths in own.items():
        for path in paths:
            closures.setdefault(path, partial(reach.files, path, roots[entry]))
    found = screen.quiet(closures)
    return {entry: found.intersection(paths) for entry, paths in own.items()}


def reached_before(closures: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """By entry, the files that an entry before it reaches too."""
    if len(closures) < 2:
        return {}
    first: dict[str, str] = {}
    for entry, paths in closures.items():
        for path in paths:
            first.setdefault(path, entry)
    return {entry: frozenset(path for path in paths if first[path] != entry) for entry, paths in closures.items()}


def imported(closures: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The entries that another entry reaches, too: what they do as programs may be there to try them out."""
    return frozenset(path for entry, paths in closures.items() for path in paths if path != entry and path in closures)
