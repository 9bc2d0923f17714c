"""A place at which a finding is cured, and what a cure is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from d9mlint.fix.names import as_known
from d9mlint.fix.tree import Statement, Tree, text_at, tree
from d9mlint.model import Edit, Finding, Location


class Need(NamedTuple):
    """What edits of a file need at its top: a function to be defined there, or the name of a package."""

    path: str
    text: str


class Place(NamedTuple):
    """Where a finding, or one that it stands for, is cured."""

    found: Finding
    at: Location
    texts: Mapping[str, bytes]
    """What is in the files that the finding is about."""

    @property
    def path(self) -> str:
        """The file."""
        return self.at.path

    @property
    def source(self) -> bytes:
        """What is in the file."""
        return self.texts.get(self.at.path, b"")

    @property
    def tree(self) -> Tree | None:
        """What stands where in the file; None where it cannot be parsed."""
        return tree(self.source)

    @property
    def text(self) -> str:
        """What stands there; of several lines the first."""
        return text_at(self.at, self.source)

    @property
    def statement(self) -> Statement | None:
        """The statement that it is a part of."""
        found = self.tree
        return found.statement(self.at) if found is not None else None

    def known(self, code: str) -> str:
        """Code of a remedy with the names under which the file knows its packages."""
        return as_known(code, self.source)

    def other(self, note: str) -> Place | None:
        """The place that the finding tells with this note; None where there is none in a file that can be patched.

        Of several it is the last one before this place: each draw has its own maker.
        """
        told = [one.location for one in self.found.related if one.note == note and one.location.path in self.texts]
        before = [one for one in told if one.path == self.path and one.line <= self.at.line]
        return self._replace(at=max(before, key=lambda one: one.line, default=told[0])) if told else None


Way = Callable[[Any, Place], Iterator[Edit | Need]]
"""A way to cure: the value that the rule gives to its word, and the place, to what is to be changed."""
