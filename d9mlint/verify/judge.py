"""From observations to verdicts: what was seen, what it says, and what it leaves open."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from d9mlint.model import Evidence, Observation, Overhead, Tally
from d9mlint.model.evidence import (
    CONFIRMED,
    FIXES,
    HARNESS,
    LEAKS,
    NOT_REPRODUCED,
    RAISES,
    RNG,
    SENSITIVE,
    UNINITIALISED,
    UNTESTED,
)
from d9mlint.verify.run import Observed, has_mode
from d9mlint.verify.timing import SEED, Times

_CONFIDENCE = 0.95
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""By degrees of freedom, from 1."""
_SPREAD = 0.03
"""At least so much processes are taken to differ (standard deviation of the logarithm), though those of one battery may
agree better: the time of an op moved by 3 to 4 % between batteries on a busy machine with two cores, in all processes
of a mode together, and those that stand out are visited until they do so no more."""
_ABOUT_DETERMINISM = re.compile("determinis", re.IGNORECASE)
"""In all messages of TensorFlow and PyTorch that refuse an op; what else an op raises is no verdict on the mode."""
_ROUNDING = {"float32": 1e-3, "float64": 1e-12}
"""Relative distances that no other order of some ten thousand additions of mixed sign makes."""


def judged(seen: Observed, findings: tuple[str, ...] = ()) -> Evidence:
    """The verdict on one case."""
    if not seen.device:
        needed = " or ".join(one.upper() for one in seen.case.devices)
        note = (
            f"the case needs a {needed}" if len(seen.case.devices) == 1 else "the device that was asked for is not here"
        )
        note = f"{note}: {seen.lacking}" if seen.lacking else note
        return Evidence(seen.case, "", UNTESTED, (UNTESTED,), findings, note=note)
    default = [one for one in seen.observations if one.mode == "default" and (one.results or not one.variant)]
    other = [one for one in seen.observations if one.mode == "deterministic"]
    good = [one for one in default if one.results]
    trouble = next((one.problem or f"the op raised {one.raised}" for one in default if not one.results), "")
    if not good or (trouble and not _varies(good)):
        return Evidence(seen.case, seen.device, HARNESS, (HARNESS,), findings, note=trouble or "no process answered")
    mode = _mode(other, _varies(good))
    verdicts = _verdicts(good, other, mode, seen.device)
    if verdicts[0] == NOT_REPRODUCED and _is_elsewhere(seen):
        verdicts = (UNTESTED, *verdicts)
    runs, tallies = sum(len(one.results) for one in good), _tallies(good)
    first = [number + 1 for one in good for number, result in enumerate(one.results) if result]
    farthest = [*good, *(one for one in other if one.results)]
    return Evidence(
        seen.case, seen.device, verdicts[0], verdicts, findings, runs=runs, processes=len(good),
        distinct=max(_distinct(group) for group in _by_condition(good)),
        differing=sum(one.differing for one in tallies),
        first_differing=min(first) if first else None,
        bound=None if _varies(good) else max((one.bound for one in tallies if one.bound is not None), default=None),
        max_ulp=max((one.max_ulp for one in farthest if one.max_ulp is not None), default=None),
        max_relative=max((one.max_relative for one in farthest if one.max_relative is not None), default=None),
        elements=good[0].elements, nan=good[0].nan, inf=good[0].inf, inputs=good[0].inputs,
        tallies=tallies, deterministic_mode=mode, deterministic=_tallies(one for one in other if one.results),
        raised=next((one.raised for one in other if one.raised), ""),
        overhead=overhead(seen.times), note=_note(seen, good, other, verdicts, trouble),
        ulp_histogram=tuple(map(sum, zip_longest(*(one.ulp_histogram for one in farthest), fillvalue=0))),
        observations=seen.observations,
    )  # fmt: skip


def _varies(seen: Sequence[Observation]) -> bool:
    """Whether runs under the same conditions differed: in one process, or between processes with equal threads."""
    return any(_distinct(group) > 1 for group in _by_condition(seen))


def _is_elsewhere(seen: Observed) -> bool:
    """Whether the entry is about another device than the one that the case ran on."""
    return bool(seen.case.about) and seen.device not in seen.case.about


def _by_condition(seen: Iterable[Observation]) -> list[list[Observation]]:
    """Those under equal conditions together: threads, and on a GPU another setting."""
    groups: dict[tuple[str, int], list[Observation]] = {}
    for one in seen:
        groups.setdefault((one.variant, one.threads), []).append(one)
    return [groups[condition] for condition in sorted(groups)]


def _distinct(group: Iterable[Observation]) -> int:
    return len({digest for one in group for digest in one.digests})


def _tallies(seen: Iterable[Observation]) -> tuple[Tally, ...]:
    found = []
    for group in _by_condition(seen):
        first = group[0].digests[0]
        differing = sum(one.digests[result] != first for one in group for result in one.results)
        runs = sum(len(one.results) for one in group)
        races = group[0].threads != 1
        bound = share_bound(runs - 1) if races and _distinct(group) == 1 else None
        found.append(Tally(group[0].threads, len(group), runs, _distinct(group), differing, group[0].variant, bound))
    return tuple(found)


def _mode(other: Sequence[Observation], varied: bool) -> str:
    """What deterministic mode does; a process that gave no answer never counts as the same."""
    if any(_ABOUT_DETERMINISM.search(one.raised) for one in other):
        return RAISES
    good = [one for one in other if one.results]
    if good and _varies(good):
        return LEAKS
    if not good or len(good) < len(other):
        return "not-run"
    return FIXES if varied else NOT_REPRODUCED


def _verdicts(good: Sequence[Observation], other: Sequence[Observation], mode: str, device: str) -> tuple[str, ...]:
    """All that hold, gravest first."""
    varied = _varies(good)
    filled = [one for one in other if one.nan > max(seen.nan for seen in good)]
    found = []
    if mode == LEAKS:
        found.append(LEAKS)
    if mode == RAISES:
        found.append(RAISES)
    alone = device == "gpu" or any(one.varies and one.threads == 1 for one in good)  # a GPU has no single thread
    if varied and filled and alone:
        found.append(UNINITIALISED)  # deterministic mode fills fresh memory with NaN (torch)
    if varied:
        found.append(CONFIRMED)
        if mode == FIXES:
            found.append(FIXES)
    elif all(one.unseeded > 1 for one in good):  # in some only: a race that the counted runs did not show
        found.append(RNG)
    found = found or [NOT_REPRODUCED]
    if not varied and len({one.digests[0] for one in good if not one.variant}) > 1:
        found.append(SENSITIVE)
    return tuple(found)


def _note(
    seen: Observed, good: Sequence[Observation], other: Sequence[Observation], verdicts: Sequence[str], trouble: str
) -> str:
    """What the figures alone do not say."""
    told = []
    if trouble:
        told.append(f"not all processes answered: {trouble}")
    if not has_mode(seen.case.framework, seen.device):
        told.append(f"{seen.case.framework} has no deterministic mode for the {seen.device.upper()}")
    others = (one.problem or one.raised for one in other if not _ABOUT_DETERMINISM.search(one.raised))
    if problem := next(filter(None, others), ""):
        told.append(f"deterministic mode could not be run: {problem}")
    if CONFIRMED in verdicts and any(one.varies and one.threads == 1 for one in good):
        told.append("it varies with one thread, too: state, fresh memory or an order of its own, not only a race")
    elif CONFIRMED in verdicts and not any(one.varies for one in good):
        told.append("it is the same within a process and differs between processes")
    if not _varies(good) and RNG not in verdicts and any(one.unseeded > 1 for one in good):
        told.append("further runs, before which no generator was reset, did differ in some processes: run it again")
    rounding = _ROUNDING.get(seen.case.dtype, math.inf)
    raced = CONFIRMED in verdicts and not any(one.varies and one.threads == 1 for one in good)
    if raced and any((one.max_relative or 0) > rounding for one in good):
        told.append(
            "results lie much farther apart than rounding: something is lost or overwritten, not only reordered"
        )
    if SENSITIVE in verdicts:
        told.append("each process repeats its bits, but they depend on the number of threads")
    if _is_elsewhere(seen):
        devices = " and the ".join(one.upper() for one in seen.case.about)
        told.append(f"the entry is about the {devices}, of which this {seen.device.upper()} says nothing")
    return "; ".join(told)


def share_bound(comparisons: int) -> float | None:
    """The largest share of differing runs that gives none in so many comparisons with a chance of 5 % (rule of three).

    Holds for independent runs under the conditions tried, and for no others: another load or machine may differ.
    """
    return 1 - (1 - _CONFIDENCE) ** (1 / comparisons) if comparisons > 0 else None


def overhead(times: Times) -> Overhead | None:
    """The ratio of times with its interval: Student's t over the logarithms of the processes' times.

    It is about processes, not runs: memory and threads lie differently in each, and all runs in it share that.
    """
    means = [[_typical(visits) for visits in mode if visits] for mode in times]
    freedom = len(means[0]) + len(means[1]) - 2
    if min(map(len, means)) < 2:
        return None
    logs = [[math.log(one) for one in mode] for mode in means]
    spread = sum(statistics.variance(mode) * (len(mode) - 1) for mode in logs) / freedom
    half = student(freedom) * math.sqrt(max(spread, _SPREAD**2) * sum(1 / len(mode) for mode in logs))
    ratio = statistics.fmean(logs[1]) - statistics.fmean(logs[0])
    return Overhead(
        math.exp(ratio), math.exp(ratio - half), math.exp(ratio + half),
        math.exp(statistics.fmean(logs[0])) * 1000, math.exp(statistics.fmean(logs[1])) * 1000,
        sum(len(visits) for mode in times for visits in mode), freedom + 2, SEED,
    )  # fmt: skip


def _typical(visits: Sequence[float]) -> float:
    """The time of a run in a process: the shortest, as what else the machine does only adds to it."""
    return min(visits)


def student(freedom: int) -> float:
    """The quantile of Student's t that leaves 2.5 % on either side; beyond the table its last, which is larger."""
    return _STUDENT[min(freedom, len(_STUDENT)) - 1]
