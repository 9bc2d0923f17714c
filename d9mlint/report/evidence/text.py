"""Evidence for people: what was seen, gravest first, and what it leaves open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from d9mlint.model import OUTCOMES, Evidence, EvidenceReport, Tally
from d9mlint.model.evidence import CONFIRMED, FIXES, HARNESS, LEAKS, NOT_REPRODUCED, RAISES, RNG, UNTESTED
from d9mlint.report.lines import NARROWEST, Line, hanging, item, joined, labelled
from d9mlint.report.words import count, one_line, printable

_STYLES = {LEAKS: "bold red", CONFIRMED: "bold red", RAISES: "bold yellow", HARNESS: "bold magenta"}
_MODES = {
    FIXES: "fixes it: equal in all {runs} runs",
    LEAKS: "does not cure it: {differing} of {runs} runs differ",
    RAISES: "raises {raised}",
    NOT_REPRODUCED: "equal in all {runs} runs",
    "not-run": "not tried",
}
_BRIEF = (NOT_REPRODUCED, UNTESTED)
"""Verdicts that get one line each."""


def render(report: EvidenceReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report; colours add escape sequences and change nothing else."""
    width = max(width, NARROWEST)
    return joined([*_evidence(report, width), *_summary(report, width)], color=color)


def _evidence(report: EvidenceReport, width: int) -> Iterator[Line]:
    for one in report.evidence:
        brief = one.verdict in _BRIEF
        yield _header(one)
        for place in one.findings:
            yield from labelled("for", place, width)
        if one.verdict == HARNESS or not brief:
            yield from _details(one, width)
        else:
            yield from labelled("runs", _equal(one), width)
            yield from labelled("note", one.note, width)
        if not brief:
            yield ()
    if report.evidence and report.evidence[-1].verdict in _BRIEF:
        yield ()


def _header(one: Evidence) -> Line:
    case = one.case
    where = ", ".join(part for part in (one.device, case.dtype, case.execution, case.direction) if part)
    name = f"{case.op} ({case.name})" if case.name else case.op
    more = f" (and {', '.join(one.verdicts[1:])})" if len(one.verdicts) > 1 else ""
    return (
        (one.verdict, _STYLES.get(one.verdict, "bold")),
        (" ", ""), (printable(name), "bold"), (f" [{where}]", "dim"), (more, ""),
    )  # fmt: skip


def _details(one: Evidence, width: int) -> Iterator[Line]:
    if one.verdict != HARNESS:
        yield from labelled("runs", _differing(one), width)
        yield from labelled("threads", _by_threads(one.tallies), width, indent=11)
        yield from labelled("far", _far(one), width)
        yield from labelled("mode", "deterministic mode " + _mode(one), width)
        if one.overhead:
            yield from labelled("cost", _cost(one), width)
    yield from labelled("note", one_line(one.note), width)


def _differing(one: Evidence) -> str:
    if one.verdict == RNG:
        return f"equal in {one.runs} runs when the generators are reset before each, different when they are not"
    if not one.differing:
        return _equal(one)
    first = f", first in run {one.first_differing}" if one.first_differing else ""
    return f"{one.differing} of {one.runs} runs differ, in {one.processes} processes{first}"


def _equal(one: Evidence) -> str:
    if not one.runs:
        return ""
    bound = "" if one.bound is None else f"; at most {one.bound:.1%} differ with 95 % confidence, conditions unchanged"
    return f"{one.runs} equal runs in {one.processes} processes{bound}"


def _by_threads(tallies: tuple[Tally, ...]) -> str:
    return ", ".join(
        f"{one.threads or 'default'}: {one.differing} of {one.runs} ({one.distinct} distinct)" for one in tallies
    )


def _far(one: Evidence) -> str:
    if one.max_ulp is None or one.max_relative is None:
        return ""
    odd = "".join(f", {number} {what}" for number, what in ((one.nan, "NaN"), (one.inf, "infinite")) if number)
    size = f"{count(one.elements, 'element')}{odd}"
    return f"up to {one.max_ulp} ULP, {one.max_relative:.1e} of the largest element ({size})"


def _mode(one: Evidence) -> str:
    runs, differing = (sum(getattr(t, key) for t in one.deterministic) for key in ("runs", "differing"))
    words = _MODES.get(one.deterministic_mode, one.deterministic_mode)
    return words.format(runs=runs, differing=differing, raised=one_line(one.raised))


def _cost(one: Evidence) -> str:
    cost = one.overhead
    assert cost is not None
    return (
        f"deterministic mode takes {cost.ratio:.2f} times as long ({cost.low:.2f} to {cost.high:.2f}, "
        f"{cost.default_ms:.2g} ms a run without)"
    )


def _summary(report: EvidenceReport, width: int) -> Iterator[Line]:
    found = Counter(one.verdict for one in report.evidence)
    parts = [f"{found[verdict]} {verdict}" for verdict in OUTCOMES if found[verdict]]
    yield (
        (f"{count(len(report.evidence), 'case')}: {', '.join(parts)}" if parts else "Nothing was executed.", "bold"),
    )
    yield from item("machine", _machine(report), width)
    if report.unexecuted:
        yield (("  not executed:", "bold"),)
        for one in report.unexecuted:
            yield from hanging(f"{printable(one.op)}: {one_line(one.reason)}", width)
    if report.unchecked:
        yield (("  not checked:", "bold red"),)
        for file in report.unchecked:
            yield from hanging(f"{printable(file.path)}: {one_line(file.reason)}", width)
    if report.stopped:
        text = f"  partial report, {one_line(report.stopped)}: {count(len(report.unfinished), 'case')} not executed"
        yield ((text, "bold red"),)
        for one in report.unfinished:
            yield from hanging(printable(one.op), width)


def _machine(report: EvidenceReport) -> str:
    env = report.environment
    parts = [f"{env.get('cpu', '')}, {env.get('cores', '?')} cores, {env.get('system', '')}"]
    for value in env.values():
        if isinstance(value, dict):
            parts += [f"{name} {version}" for name, version in value.get("versions", {}).items()]
            parts += [str(gpu) for gpu in value.get("gpus", ())]
    return ", ".join(one_line(part) for part in parts if part)
