"""Everything that one run has to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from d9mlint.model.finding import Finding, Location
    from d9mlint.model.launch import Launch
    from d9mlint.model.plan import PlanRow
    from d9mlint.model.rule import Rule
    from d9mlint.model.target import Target


class Unchecked(NamedTuple):
    """A file that could not be checked (wholly or by one rule), and why."""

    path: str
    reason: str


class Unfollowed(NamedTuple):
    """A call that could not be followed, and that something which matters could hide behind."""

    location: Location
    call: str
    """What is called, as far as it has a name."""
    reason: str


class Coverage(NamedTuple):
    """How much of a program was seen to run from its entry."""

    files: int
    functions: int
    """Functions and methods in these files."""
    uncalled: Mapping[str, int]
    """By file, how many of them nothing was seen to call."""
    unfollowed: tuple[Unfollowed, ...] = ()
    interpreted: bool = True
    """False where the files use nothing that any rule is about, and were only looked at for what cannot be read."""
    kept: bool = True
    """False where the program only builds, runs and asserts: nothing of what it computes is written, shown or trained
    on, so nothing that varies matters."""
    coarse: int = 0
    """Conditions too large to be reasoned about, each taken as a test of its own: what findings say of when they matter
    may be too much."""


class Changed(NamedTuple):
    """What a run was limited to: the entries whose programs reach a file that differs."""

    since: str
    """The revision that files are compared with; empty where nothing is compared, so that all is judged."""
    staged: bool
    """Whether the next commit is compared, instead of the files that are there."""
    files: tuple[str, ...]
    """The files that differ, deleted ones too."""
    entries: int
    """Entries that there are."""
    left_out: int
    """Those of them that reach none of the files."""


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
    unsure: frozenset[tuple[str, Location]] = frozenset()
    """Of these, the rules and the places."""
    unchecked: tuple[Unchecked, ...] = ()
    coverage: Mapping[str, Coverage] = {}
    """By entry."""
    plans: Mapping[str, tuple[PlanRow, ...]] = {}
    """By entry, what it does about its determinism."""
    launches: Mapping[str, tuple[Launch, ...]] = {}
    """By entry, the commands that start it."""
    changed: Changed | None = None
    """What the run was limited to; None where it was not."""
    rules: Mapping[str, Rule] = {}
    sources: Mapping[str, str] = {}
    """Text of the files that findings point into, for excerpts; of notebooks by cell (``Location.file``)."""
