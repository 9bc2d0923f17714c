"""Everything that one run has to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from d9mlint.model.finding import Finding
    from d9mlint.model.launch import Launch
    from d9mlint.model.rule import Rule
    from d9mlint.model.target import Target


class Unchecked(NamedTuple):
    """A file that could not be checked (wholly or by one rule), and why."""

    path: str
    reason: str


class Report(NamedTuple):
    """The outcome of ``d9mlint check``; findings are sorted and no longer hold suppressed or hidden ones."""

    findings: tuple[Finding, ...]
    targets: Mapping[str, Target]
    """Target by entry script (or by file for modules that no entry reaches)."""
    entries: tuple[str, ...] = ()
    files: int = 0
    suppressed: int = 0
    baselined: int = 0
    hidden: int = 0
    """Findings of low confidence that were not asked for."""
    unchecked: tuple[Unchecked, ...] = ()
    launches: Mapping[str, tuple[Launch, ...]] = {}
    """By entry, the commands that start it."""
    rules: Mapping[str, Rule] = {}
    sources: Mapping[str, str] = {}
    """Text of the files that findings point into, for excerpts; of notebooks by cell (``Location.file``)."""
