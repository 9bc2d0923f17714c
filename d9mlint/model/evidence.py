"""What executing ops has shown: observations of single processes, and the evidence that they add up to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from d9mlint.model.case import Case
    from d9mlint.model.report import Unchecked

LEAKS, RAISES, FIXES = "det-mode-leaks", "det-mode-raises", "det-mode-fixes"
CONFIRMED, NOT_REPRODUCED = "confirmed", "not-reproduced"
RNG, UNINITIALISED, SENSITIVE = "rng-unseeded", "reads-uninitialised", "environment-sensitive"
UNTESTED, HARNESS = "untested-needs-device", "harness-error"
EMULATED = "order-dependent (emulated)"
"""Of a kernel: schedules of its threads on an emulator gave different bits."""
OUTCOMES = (LEAKS, CONFIRMED, EMULATED, RAISES, UNINITIALISED, RNG, SENSITIVE, FIXES, HARNESS, UNTESTED, NOT_REPRODUCED)
"""The verdicts on an op that was executed, gravest first; never "refuted": other conditions may show what these hid."""
VARYING = (LEAKS, CONFIRMED, EMULATED, RAISES, UNINITIALISED, RNG)
"""Verdicts that say: the result was seen to differ (``det-mode-raises`` where it also did)."""


class Observation(NamedTuple):
    """What one process saw of one case; ``problem`` instead of results where it could not be run."""

    mode: str
    """``default`` or ``deterministic``."""
    threads: int
    """0: as many as the framework takes by itself."""
    results: tuple[int, ...] = ()
    """For each run, which of the distinct results it gave: 0 is that of the first run."""
    digests: tuple[str, ...] = ()
    unseeded: int = 0
    """Distinct results of the runs before which no generator was reset; 0 where there were none."""
    max_ulp: int | None = None
    max_relative: float | None = None
    nan: int = 0
    inf: int = 0
    elements: int = 0
    inputs: str = ""
    raised: str = ""
    """The exception of the op."""
    problem: str = ""
    """Why there is no answer: the process crashed, hung, wrote nonsense, had no framework."""
    ulp_histogram: tuple[int, ...] = ()
    """Elements that lie 1, 2-3, 4-7 ... ULP from those of the first result, over the results that were compared."""
    variant: str = ""
    """On a GPU, another setting in default mode: ``benchmark``, ``tf32``, ``no-tf32``."""

    @property
    def varies(self) -> bool:
        """Whether runs in this process differed."""
        return len(self.digests) > 1

    @property
    def differing(self) -> int:
        """Runs that differ from the first."""
        return sum(result != 0 for result in self.results)


class Overhead(NamedTuple):
    """What deterministic mode costs: time with it over time without, and the interval that holds it with 95 %."""

    ratio: float
    low: float
    high: float
    default_ms: float
    deterministic_ms: float
    blocks: int
    """Visits to processes that were timed."""
    processes: int = 2
    """Of both modes; the interval is about how they differ."""
    seed: int = 0
    """From it and the name of the case the order of the visits was drawn."""


class Tally(NamedTuple):
    """Runs of one mode under one condition: a number of threads, a variant."""

    threads: int
    processes: int
    runs: int
    distinct: int
    differing: int
    variant: str = ""
    bound: float | None = None
    """Where nothing differed and something could: the share of differing runs that 95 % confidence leaves."""


class Evidence(NamedTuple):
    """The verdict on one case, and what it rests on."""

    case: Case
    device: str
    """``cpu`` or ``gpu``: where it ran; empty where it did not."""
    verdict: str
    verdicts: tuple[str, ...] = ()
    """Everything that holds, gravest first; ``verdict`` is the first."""
    findings: tuple[str, ...] = ()
    """``path:line rule`` of the findings that the op belongs to."""
    runs: int = 0
    """In default mode, over all processes."""
    processes: int = 0
    distinct: int = 0
    differing: int = 0
    first_differing: int | None = None
    """The run, counted from 1, in the process where it came soonest."""
    bound: float | None = None
    """Where nothing differed: the share of differing runs that 95 % confidence leaves under each condition tried, if
    runs are independent and conditions stay; one thread cannot race and does not count."""
    max_ulp: int | None = None
    max_relative: float | None = None
    elements: int = 0
    nan: int = 0
    inf: int = 0
    inputs: str = ""
    tallies: tuple[Tally, ...] = ()
    deterministic_mode: str = "not-run"
    """One of ``det-mode-fixes``, ``-raises``, ``-leaks``, ``not-reproduced`` (the same either way), ``not-run``."""
    deterministic: tuple[Tally, ...] = ()
    raised: str = ""
    """The exception in deterministic mode."""
    overhead: Overhead | None = None
    note: str = ""
    """A sentence: why, or what the observation does not say."""
    ulp_histogram: tuple[int, ...] = ()
    """As in an observation, over all processes."""
    observations: tuple[Observation, ...] = ()
    """What the verdict was made from, process by process."""
    unlike: str = ""
    """How the case differs from the program's call; empty where it does not, or where no call is known."""

    @property
    def gravity(self) -> tuple[int, float]:
        """Sorts reports: gravest verdict first, then the largest share of differing runs."""
        return (OUTCOMES.index(self.verdict), -self.differing / self.runs if self.runs else 0.0)

    @property
    def varied(self) -> bool:
        """Whether runs were seen to differ in default or deterministic mode."""
        return self.distinct > 1 or self.verdict in (LEAKS, RNG)


class Unexecuted(NamedTuple):
    """An op or a case for which nothing was executed, and why."""

    op: str
    reason: str


class EvidenceReport(NamedTuple):
    """The outcome of ``d9mlint verify``."""

    evidence: tuple[Evidence, ...]
    environment: Mapping[str, object] = {}
    unexecuted: tuple[Unexecuted, ...] = ()
    """Ops without a case: nothing can be said of them."""
    unchecked: tuple[Unchecked, ...] = ()
    """Files of the program that could not be linted, so that their ops are not known."""
    unfinished: tuple[Unexecuted, ...] = ()
    """Cases that the time or the user cut off."""
    stopped: str = ""
    """Why the report is partial; empty where it is whole."""
