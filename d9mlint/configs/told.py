"""What the files beside the Python ones tell about how programs are started; known from earlier runs, where these are.

What a file tells depends on its bytes and on those of the files that it sources, and is kept under exactly that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from d9mlint.cache import Store, code_hash, content_hash
from d9mlint.model import EnvironmentVariable, Location

Reader = Callable[[str], "bytes | None"]
"""The bytes of a file by its path; None where there is none."""


@dataclass(frozen=True, slots=True)
class Text:
    """A word of a command after expansion; ``known`` is False where a part of it is not."""

    text: str
    known: bool
    location: Location


@dataclass(frozen=True, slots=True)
class Start:
    """A script that a command starts: as a path, or as a module (dotted); or a ``program`` that rules know."""

    script: str
    module: bool
    known: bool
    arguments: tuple[Text, ...]
    environment: Mapping[str, EnvironmentVariable]
    location: Location
    folder: str
    program: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """The Python scripts (and known programs) that a file starts, and what it sets in the image that it describes."""

    starts: tuple[Start, ...] = ()
    image: tuple[EnvironmentVariable, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a file tells, and the content hashes of what it sources: None for a file that was not there."""

    told: Told
    asked: tuple[tuple[str, str | None], ...]


class Launchers:
    """Reads launchers; with ``cache``, what earlier runs found out about them is taken from the user's cache."""

    def __init__(self, reader: Reader, *, cache: bool = False) -> None:
        self._reader = reader
        self._cache = cache
        self._known: dict[str, _Kept] = {}
        self._found_out = False

    def __call__(self, path: str) -> Told:
        """What the file of this path tells; nothing where there is none, or none that can be read."""
        if path not in self._known:
            from d9mlint.configs.files import kind, may_tell

            data = self._reader(path) if kind(path) else None
            if data is not None and may_tell(path, data):
                self._known[path] = self._told(path, data)
            else:
                self._known[path] = _Kept(Told(), ())
        return self._known[path].told

    def sourced(self, path: str) -> tuple[str, ...]:
        """The files that a launcher asks for, there or not."""
        self(path)
        return tuple(name for name, _ in self._known[path].asked)

    def keep(self) -> None:
        """Drops what is old from the cache, where this run has put something into it."""
        if self._found_out and self._store is not None:
            self._store.prune()

    @cached_property
    def _store(self) -> Store | None:
        return Store.open("launchers") if self._cache else None

    @cached_property
    def _code(self) -> str:
        return code_hash(("model", "configs"))

    def _told(self, path: str, data: bytes) -> _Kept:
        if self._store is None:
            return self._read(path, data)
        text = repr((self._code, path, content_hash(data)))
        key = hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
        kept = self._store.load(key, _Kept)
        if kept is None or any(_hash(self._reader(name)) != digest for name, digest in kept.asked):
            kept = self._read(path, data)
            self._found_out = True
            self._store.save(key, kept)
        return kept

    def _read(self, path: str, data: bytes) -> _Kept:
        from d9mlint.configs.files import told

        asked: dict[str, str | None] = {}

        def reader(name: str) -> bytes | None:
            found = self._reader(name)
            asked[name] = _hash(found)
            return found

        return _Kept(told(path, data, reader), tuple(sorted(asked.items())))


def _hash(data: bytes | None) -> str | None:
    return None if data is None else content_hash(data)
