"""Which programs of a tree load its config files, of kinds that no tool but the program itself reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from d9mlint.model import Finding

if TYPE_CHECKING:
    from d9mlint.configs.kinds import ConfigFile
    from d9mlint.python.project.files import Project
    from d9mlint.python.project.reach import Reach
    from d9mlint.python.source.configreads import Keys, Reader

UNREAD = "; no program here was seen to read it"
"""In the message of a finding about a setting that perhaps another project's program reads."""


class ConfigReaders:
    """What the programs of a tree do with the config files that they load; nothing is parsed before it is asked for."""

    def __init__(
        self, entries: Sequence[str], roots: Mapping[str, tuple[str, ...]], reach: Reach, *, cache: bool
    ) -> None:
        self._entries = entries
        self._roots = roots
        self._reach = reach
        self._cache = cache

    def as_loaded(self, file: ConfigFile, findings: Iterable[Finding]) -> list[Finding]:
        """The findings about a config file that hold in programs which load it as it is written.

        None, where all that read its settings end before they matter, as it lacks a key which they cannot do without;
        as an info where none is seen to read them.
        """
        from d9mlint.configs.kinds import READ_BY_PROGRAMS

        raised = list(findings)
        section = READ_BY_PROGRAMS.get(file.kind)
        if not raised or section is None or not self._entries:
            return raised
        reading = [reader for reader, files in self._readers if all(self._names(name, files) for name in section)]
        if not reading:
            return [one._replace(severity="info", message=one.message + UNREAD) for one in raised]
        return raised if any(all(_may_have(file, keys) for keys in one.needed) for one in reading) else []

    @cached_property
    def _readers(self) -> list[tuple[Reader, tuple[str, ...]]]:
        """What loads configurations, each with the files whose code sees them."""
        from d9mlint.python.source import configreads

        found: list[tuple[Reader, tuple[str, ...]]] = []
        for entry in self._entries:
            files = self._reach.files(entry, self._roots.get(entry, ()))
            for path in files:
                if any(word in (self._reach.peek(path) or b"") for word in configreads.SCREEN):
                    found += [(one, files if one.escapes else (path,)) for one in self._readers_in(path)]
        return found

    def _readers_in(self, path: str) -> list[Reader]:
        from d9mlint.python.source import configreads
        from d9mlint.python.source.reading import CannotRead

        try:
            facts = self._project.facts(path)
        except CannotRead:
            return []
        return configreads.readers(facts) if facts is not None else []

    def _names(self, name: str, files: Iterable[str]) -> bool:
        """Whether code in any of these files has a name, an attribute or a text of that name."""
        from d9mlint.python.source.reading import CannotRead

        for path in files:
            if name.encode() in (self._reach.peek(path) or b""):
                try:
                    facts = self._project.facts(path)
                except CannotRead:
                    return True  # nobody knows
                if facts is not None and name in self._project.words(facts):
                    return True
        return False

    @cached_property
    def _project(self) -> Project:
        from d9mlint.cache import Store
        from d9mlint.python.project.files import Project

        return Project(self._reach.read, Store.open("facts") if self._cache else None)


def _may_have(file: ConfigFile, keys: Keys) -> bool:
    """Whether a file has a key, or has nothing of the part that it stands in: another file then gives that part."""
    return keys[0] not in file.root.entries or file.root.get(*keys) is not None
