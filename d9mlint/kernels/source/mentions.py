"""Where a name of one source is used in others: through headers, or beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from d9mlint.kernels.source.includes import Includes
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.tensorflow.presence import REGISTERING

HEADERS = (".h", ".cuh", ".hpp", ".hh", ".hxx", ".H", ".inc", ".inl", ".tpp", ".ipp", ".tcc", ".txx", ".hu", ".muh")
"""What is included rather than compiled."""
CUDA = (".cu.cc", ".cu", ".cu.h", ".cuh", ".hip", ".mu")
"""What holds kernels."""
SMALL = 1000
"""Up to so many sources, all are searched; in a larger checkout, those that register or hold kernels, and headers."""
SHORTEST = 5
"""A name of fewer characters is not followed into other files: it means something else there."""
COMMON = 40
"""A name in more files than this is everybody's, and leads nowhere."""
PRIVATE = 4
"""In at most so many files of a folder may a name stand that no header declares."""


class Uses(NamedTuple):
    """Who includes what, in all of a repository; it can be worked out in another process."""

    direct: dict[str, tuple[str, ...]]
    """By file, the headers that it names."""
    sources: frozenset[str]
    """The sources that are searched: of a large checkout those that register or hold kernels, and their headers."""
    including: Mapping[str, list[str]]
    """By header what includes it: such sources, and headers that they include.

    So a source includes a header, itself or through one other header.
    """
    beside: Mapping[str, list[str]]
    """By folder, such sources in it."""


def uses_in(repository: Repository) -> Uses:
    """Who includes what in a repository."""
    includes = Includes(repository)
    sources = repository.sources
    if len(sources) > SMALL:
        registering = repository.looked(REGISTERING)
        chosen = [p for p in sources if p.endswith(CUDA) or p in registering]
        headers = {h for p in chosen for h in includes.direct(p)}
        sources = tuple(sorted(headers.union(chosen)))
    beside: dict[str, list[str]] = {}
    for source in sources:
        beside.setdefault(source.rpartition("/")[0], []).append(source)
    including: dict[str, list[str]] = {}
    for path in {*sources, *(h for source in sources for h in includes.direct(source))}:
        for header in includes.direct(path):
            including.setdefault(header, []).append(path)
    return Uses(includes.known, frozenset(sources), including, beside)


class Mentions:
    """The files that may mean the same thing by a name; includes keep the search of a large checkout small."""

    def __init__(self, repository: Repository, uses: Uses) -> None:
        self._repository = repository
        self.includes = Includes(repository, uses.direct)
        self._uses = uses
        self._found: dict[tuple[str, str], tuple[str, ...]] = {}

    def files(self, path: str, name: str) -> tuple[str, ...]:
        """The sources that use a name of the file ``path``, sorted; with the file itself."""
        if len(name) < SHORTEST:
            return (path,)
        key = path, name
        if key not in self._found:
            self._found[key] = self._search(path, name.encode())
        return self._found[key]

    def _search(self, path: str, name: bytes) -> tuple[str, ...]:
        data = self._repository.data
        declaring = [h for h in sorted(self.includes.near(path)) if name in data(h)]
        if path.endswith(HEADERS):
            declaring.append(path)
        sources, including = self._uses.sources, self._uses.including
        if declaring:
            found = set(declaring)
            for header in declaring:
                nearer = including.get(header, ())
                found.update(p for p in nearer if p in sources)
                found.update(p for between in nearer for p in including.get(between, ()) if p in sources)
            files = [p for p in sorted(found) if p == path or name in data(p)]
            return tuple(files) if len(files) <= COMMON else (path,)
        # A launcher that the kernel of an op declares itself; what is defined elsewhere is used where it stands.
        if not path.endswith(CUDA):
            return (path,)
        beside = [p for p in self._uses.beside.get(path.rpartition("/")[0], ()) if p != path and name in data(p)]
        return tuple(sorted([path, *beside])) if len(beside) <= PRIVATE else (path,)
