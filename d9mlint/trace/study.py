"""The arithmetic of a study: the metric in an output, its spread, churn, distance of weights, how many runs."""

from __future__ import annotations

import math
import re
import statistics
from array import array
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import TypeVar

from d9mlint.model import UsageError

LAST_NUMBER = "last-number"
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w])|(?<![\w.])[-+]?(?:nan|inf)(?!\w)")
_POINTS = 60
"""Of a curve, less one."""
_TEST, _POWER = 0.05, 0.8
T = TypeVar("T")


def reader(metric: str) -> Callable[[str], float | None]:
    """What finds the metric in an output: its last number, or the last match of a regular expression.

    Raises:
        UsageError: it is no regular expression, or has more than one group.
    """
    if metric == LAST_NUMBER:
        return lambda text: _last(_NUMBER, text)
    try:
        pattern = re.compile(metric, re.MULTILINE)
    except re.error as error:
        raise UsageError(f"--metric: not a regular expression: {error}") from None
    if pattern.groups > 1:
        raise UsageError("--metric: the expression has more than one group: mark the number with one")
    return lambda text: _last(pattern, text)


def _last(pattern: re.Pattern[str], text: str) -> float | None:
    found = list(pattern.finditer(text))
    if not found:
        return None
    try:
        return float(found[-1][pattern.groups])
    except (ValueError, TypeError):
        return None


def deviation(values: Sequence[float]) -> float | None:
    """The standard deviation of a sample."""
    return statistics.stdev(values) if len(values) > 1 and all(map(math.isfinite, values)) else None


def _over_pairs(several: Sequence[T], measure: Callable[[T, T], float | None]) -> float | None:
    found = [value for one, other in combinations(several, 2) if (value := measure(one, other)) is not None]
    return statistics.fmean(found) if found else None


def churn(predictions: Sequence[Sequence[str]]) -> float | None:
    """The share of predictions that two runs make differently, over all pairs of runs.

    Source: Milani Fard et al., Launch and Iterate: Reducing Prediction Churn (2016).
    """

    def measure(one: Sequence[str], other: Sequence[str]) -> float | None:
        if not one or len(one) != len(other):
            return None
        return sum(a != b for a, b in zip(one, other, strict=True)) / len(one)

    return _over_pairs(predictions, measure)


def distance(weights: Sequence[array[float]]) -> float | None:
    """The L2 between the weights of two runs over that of the first, over all pairs of runs."""

    def measure(one: array[float], other: array[float]) -> float | None:
        if not one or len(one) != len(other):
            return None
        size = math.sqrt(math.fsum(a * a for a in one))
        return math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(one, other, strict=True))) / size if size else None

    return _over_pairs(weights, measure)


def weights(folder: Path) -> array[float]:
    """The final weights that a run has left; empty where there are none."""
    found = array("d")
    left = sorted(folder.glob("*.weights"))  # of several ranks the first: they train the same network
    if not left:
        return found
    data = left[0].read_bytes()
    found.frombytes(data[: len(data) // found.itemsize * found.itemsize])
    return found


def _factor() -> float:
    normal = statistics.NormalDist()
    return normal.inv_cdf(1 - _TEST / 2) + normal.inv_cdf(_POWER)


def needed(deviation: float, difference: float) -> int:
    """Runs of each of two variants, so that a true difference of their means is seen with 80 % chance at 5 % error.

    ``n = 2 ((z(0.975) + z(0.8)) s / d)^2``, normal approximation of the two-sided test of two means with one standard
    deviation; at least two. Source: NIST/SEMATECH e-Handbook of Statistical Methods, 7.2.2.2 (two samples: twice that).
    """
    return max(2, math.ceil(2 * (_factor() * deviation / difference) ** 2))


def curve(deviation: float | None, runs: int, difference: float | None) -> tuple[tuple[float, int], ...]:
    """Differences around the one that is asked about and the one that ``runs`` tell, and the runs that each takes."""
    if not deviation:
        return ()
    centres = [detectable(deviation, runs), *([difference] if difference else [])]
    low, high = min(centres) / 3, max(centres) * 3
    differences = [low * (high / low) ** (n / _POINTS) for n in range(_POINTS + 1)]
    return tuple((one, needed(deviation, one)) for one in differences)


def detectable(deviation: float, runs: int) -> float:
    """The difference for which ``runs`` of each variant are what it takes."""
    return _factor() * deviation * math.sqrt(2 / runs)
