"""Evidence in words: what the text report and the page say alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from d9mlint.model import Evidence, EvidenceReport, Tally
from d9mlint.model.evidence import FIXES, LEAKS, NOT_REPRODUCED, RAISES, RNG, UNTESTED
from d9mlint.report.words import count, one_line, share

_MODES = {
    FIXES: "fixes it: equal in all {runs} runs",
    LEAKS: "does not cure it: {differing} of {runs} runs differ",
    RAISES: "raises {raised}",
    NOT_REPRODUCED: "equal in all {runs} runs",
    "not-run": "not tried",
}


def headline(report: EvidenceReport) -> str:
    """How many ops vary, and how many could not be told of; what only draws numbers does not vary."""
    ops = {one.case.op for one in report.evidence}
    varied = {one.case.op for one in report.evidence if one.varied and one.verdict != RNG}
    drawing = {one.case.op for one in report.evidence if one.verdict == RNG} - varied
    untested = {one.case.op for one in report.evidence if one.verdict == UNTESTED} - varied
    more = [f"{len(drawing)} only with the generator"] if drawing else []
    more += [f"{len(untested)} not tested where it counts"] if untested else []
    return ", ".join([f"{len(varied)} of {count(len(ops), 'op')} varied", *more])


def differing(one: Evidence) -> str:
    """How many runs differ; for a generator that nothing resets, that."""
    if one.verdict == RNG:
        return f"equal in {one.runs} runs when the generators are reset before each, different when they are not"
    if not one.differing:
        return equal(one)
    first = f", first in run {one.first_differing}" if one.first_differing else ""
    return f"{one.differing} of {one.runs} runs differ, in {one.processes} processes{first}"


def equal(one: Evidence) -> str:
    """How many runs were equal, and what that leaves possible."""
    if not one.runs:
        return ""
    assumed = "with 95 % confidence under each condition that can race, if runs are independent"
    bound = "" if one.bound is None else f"; at most {share(one.bound)} differ {assumed}"
    return f"{one.runs} equal runs in {one.processes} processes{bound}"


def by_threads(tallies: tuple[Tally, ...]) -> str:
    """The same by number of threads."""
    return ", ".join(
        f"{one.variant or one.threads or 'default'}: {one.differing} of {one.runs} ({one.distinct} distinct)"
        for one in tallies
    )


def far(one: Evidence) -> str:
    """How far results lie apart; empty where they do not."""
    if one.max_ulp is None or one.max_relative is None:
        return ""
    odd = "".join(f", {number} {what}" for number, what in ((one.nan, "NaN"), (one.inf, "infinite")) if number)
    size = f"{count(one.elements, 'element')}{odd}"
    return f"up to {one.max_ulp} ULP, {one.max_relative:.1e} of the largest element ({size})"


def mode(one: Evidence) -> str:
    """What deterministic mode does, as the end of a sentence."""
    runs, other = (sum(getattr(t, key) for t in one.deterministic) for key in ("runs", "differing"))
    words = _MODES.get(one.deterministic_mode, one.deterministic_mode)
    return words.format(runs=runs, differing=other, raised=one_line(one.raised))


def elsewhere(one: Evidence) -> str:
    """What an observation does not speak of, though the op's entry is about it: a GPU, seen from a CPU."""
    if not one.device or not one.case.about or one.device in one.case.about:
        return ""
    return f"this {one.device.upper()} says nothing of a {' or a '.join(other.upper() for other in one.case.about)}"


def cost(one: Evidence) -> str:
    """What deterministic mode costs; empty where it was not timed."""
    took = one.overhead
    if took is None:
        return ""
    return (
        f"deterministic mode takes {took.ratio:.2f} times as long ({took.low:.2f} to {took.high:.2f}, "
        f"{took.default_ms:.2g} ms a run without)"
    )


def _cards(told: Mapping[str, Any]) -> list[str]:
    """The GPU that a framework used, and by which name it was chosen; of older reports all that it saw."""
    used = told.get("used")
    if not isinstance(used, dict):
        return [str(gpu) for gpu in told.get("gpus", ())]
    chosen = f" (CUDA_VISIBLE_DEVICES={used['visible']})" if used.get("visible") else ""
    others = len(told.get("gpus", ())) - 1
    return [f"{used.get('name', 'GPU')}{chosen}{f', the first of {others + 1} GPUs' if others > 0 else ''}"]


def machine(report: EvidenceReport) -> str:
    """The machine and the versions, on one line."""
    env = report.environment
    parts = [f"{env.get('cpu', '')}, {env.get('cores', '?')} cores, {env.get('system', '')}"]
    for value in env.values():
        if isinstance(value, dict):
            parts += [f"{name} {version}" for name, version in value.get("versions", {}).items()]
            parts += _cards(value)
            parts += [str(value["unused"])] if value.get("unused") else []
    gone = env.get("removed")
    if isinstance(gone, dict):
        parts.append(f"not passed on: {', '.join(sorted(gone))}")
    return ", ".join(one_line(part) for part in parts if part)
