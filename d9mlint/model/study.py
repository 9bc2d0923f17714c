"""What nondeterminism costs in the end: how far a program's final metric, predictions and weights lie apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

ALGO, IMPL = "algo", "impl"
"""Groups of runs: seeds vary and the implementation is fixed; seeds are fixed and the implementation is as it is."""


class Spread(NamedTuple):
    """The final metric over the runs of a group."""

    group: str
    values: tuple[float, ...] = ()
    mean: float | None = None
    deviation: float | None = None
    """Standard deviation of a sample; None for fewer than two values."""
    churn: float | None = None
    """Share of predictions that differ between two runs, averaged over all pairs; None where none are saved."""
    distance: float | None = None
    """L2 between the final weights of two runs over that of one, averaged over all pairs; None where none are seen."""
    failed: tuple[str, ...] = ()
    """How runs ended that gave no metric."""


class StudyReport(NamedTuple):
    """The outcome of ``d9mlint study``."""

    program: str
    metric: str
    asked: int
    """Runs of each group."""
    spreads: tuple[Spread, ...] = ()
    total: float | None = None
    """The standard deviation that both sources of noise give together."""
    detectable: float | None = None
    """The smallest difference of two means that so many runs of each variant can tell from noise."""
    difference: float | None = None
    """A difference that was asked about."""
    needed: int | None = None
    """Runs of each variant that it takes to tell it from noise."""
    curve: tuple[tuple[float, int], ...] = ()
    """Differences of the means, and runs of each variant that each takes."""
    environment: Mapping[str, object] = {}
    notes: tuple[str, ...] = ()
    stopped: str = ""
