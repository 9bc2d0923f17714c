"""Which headers of the repository a source includes."""

from __future__ import annotations

import posixpath

from d9mlint.kernels.source.repository import Repository, included_names


class Includes:
    """The include relation of a repository, read on demand, each file once.

    An include means the file beside the source, else the one whose path ends in it, of several the nearest: ``-I``
    options are not known. Headers outside of the repository have no place in it.
    """

    def __init__(self, repository: Repository, known: dict[str, tuple[str, ...]] | None = None) -> None:
        self._repository = repository
        self.known = {} if known is None else known
        """By file, the headers that it names; of those that were asked for."""
        self._by_name: dict[str, list[str]] | None = None
        self._near: dict[str, frozenset[str]] = {}
        self._candidates: dict[str, tuple[str, ...]] = {}

    def direct(self, path: str) -> tuple[str, ...]:
        """The headers that a file names, in order."""
        if path not in self.known:
            found: dict[str, None] = {}
            for name in included_names(self._repository, path):
                candidates = self._candidates.get(name)
                if candidates is None:
                    candidates = self._candidates[name] = self._named(name)
                if candidates:
                    found[candidates[0] if len(candidates) == 1 else _nearest(candidates, path)] = None
            found.pop(path, None)
            self.known[path] = tuple(found)
        return self.known[path]

    def near(self, path: str) -> frozenset[str]:
        """The headers that a file names, and those that they name."""
        if path not in self._near:
            headers = self.direct(path)
            self._near[path] = frozenset(headers).union(*(self.direct(h) for h in headers))
        return self._near[path]

    def _named(self, name: str) -> tuple[str, ...]:
        """The files that an include may mean, whoever has it."""
        plain = posixpath.normpath(name) if "." in name[:1] or "//" in name else name
        plain = plain.removeprefix("../").rpartition("../")[2]
        if self._by_name is None:
            self._by_name = {}
            for path in self._repository.sources:
                self._by_name.setdefault(path.rpartition("/")[2], []).append(path)
        same = self._by_name.get(plain.rpartition("/")[2], ())
        return tuple(p for p in same if p == plain or p.endswith("/" + plain))


def _nearest(candidates: tuple[str, ...], path: str) -> str:
    return max(candidates, key=lambda c: (len(posixpath.commonprefix((c, path))), -len(c)))
