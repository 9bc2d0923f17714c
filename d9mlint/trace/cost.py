"""What a cure costs: the time of a program's steps with it over that without, from runs that take turns."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from d9mlint.trace.run import Run

_WARM = 1
"""Steps at the start that are not counted: what is done once (compiling, choosing algorithms) is done in them."""
_FEWEST = 5
"""Steps that are timed at least; a program with fewer is timed as a whole."""
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""Student's t, two-sided 95 %, for 1 to 9 degrees of freedom (NIST/SEMATECH e-Handbook, 1.3.6.7.2)."""
STEPS, RUNS = "steps", "whole runs"


class Cost(NamedTuple):
    """A ratio with its 95 % interval."""

    ratio: float
    low: float
    high: float
    pairs: int
    of: str
    """What was timed: ``steps``, or ``whole runs`` where there are too few steps."""


def cost(pairs: Sequence[tuple[Run, Run]]) -> Cost | None:
    """From pairs of runs without and with the cure; None for fewer than two.

    The logarithms of the pairs' ratios are averaged; the interval is Student's t for their mean.
    """
    if not 2 <= len(pairs) <= len(_T) + 1:
        return None
    steps = [(_step(one), _step(other)) for one, other in pairs]
    timed = [(one, other) for one, other in steps if one is not None and other is not None]
    of = STEPS if len(timed) == len(pairs) else RUNS
    seconds = timed if of == STEPS else [(one.ended.seconds, other.ended.seconds) for one, other in pairs]
    logs = [math.log(other / one) for one, other in seconds]
    mean = statistics.fmean(logs)
    half = _T[len(logs) - 2] * statistics.stdev(logs) / math.sqrt(len(logs))
    return Cost(math.exp(mean), math.exp(mean - half), math.exp(mean + half), len(logs), of)


def _step(run: Run) -> float | None:
    """The median time of a step in seconds; None for a run that has too few."""
    times = run.recording.leading.times
    gaps = [after - before for before, after in zip(times[_WARM - 1 :], times[_WARM:], strict=False)]
    found = statistics.median(gaps) if len(gaps) >= _FEWEST else 0.0
    return found if found > 0 else None
