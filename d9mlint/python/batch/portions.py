"""How the entries of a run are dealt out to worker processes."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from d9mlint.python.source.reading import CannotRead, Reader

_FEW = 4
"""Entries for which another process would cost more than it saves."""
_LITTLE = 100_000
"""Bytes of all that entries reach, likewise: about a second of work."""
_PORTIONS = 8
"""Portions a worker: many even out their sizes, few keep neighbours together, which share modules."""


class Dealer:
    """Deals out entries by what they reach; idle ones cost nothing."""

    def __init__(
        self, read: Reader, reached: Mapping[str, Sequence[str]], idle: Collection[str], most: int
    ) -> None:  # fmt: skip
        self._read = read
        self._reached = reached
        self._idle = idle
        self._most = most or os.cpu_count() or 1
        self._sizes: dict[str, int] = {}

    def workers(self, names: Sequence[str]) -> int:
        """How many processes are worth it."""
        most = min(self._most, len(names) // _FEW)
        if most < 2 or self._size({path for name in names for path in self._files(name)}) < _LITTLE:
            return 1
        return most

    def deal(self, names: Sequence[str], count: int) -> list[tuple[str, ...]]:
        """The portions, that which reaches most first: a large one begun last keeps the others waiting."""
        number = max(1, -(-len(names) // (count * _PORTIONS)))
        portions = [tuple(names[i : i + number]) for i in range(0, len(names), number)]
        return sorted(portions, key=lambda portion: -sum(self._size(self._files(name)) for name in portion))

    def _files(self, name: str) -> Sequence[str]:
        return () if name in self._idle else self._reached.get(name, (name,))

    def _size(self, paths: Iterable[str]) -> int:
        return sum(map(self._length, paths))

    def _length(self, path: str) -> int:
        if path not in self._sizes:
            try:
                self._sizes[path] = len(self._read(path) or b"")
            except CannotRead:
                self._sizes[path] = 0
        return self._sizes[path]
