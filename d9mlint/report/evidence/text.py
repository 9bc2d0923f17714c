"""Evidence for people: what was seen, gravest first, and what it leaves open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from d9mlint.model import OUTCOMES, Evidence, EvidenceReport
from d9mlint.model.evidence import CONFIRMED, HARNESS, LEAKS, NOT_REPRODUCED, RAISES, UNTESTED
from d9mlint.report.evidence import words
from d9mlint.report.lines import NARROWEST, Line, hanging, item, joined, labelled
from d9mlint.report.words import count, one_line, printable

_STYLES = {LEAKS: "bold red", CONFIRMED: "bold red", RAISES: "bold yellow", HARNESS: "bold magenta"}
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
        yield from labelled("like", _like(one), width)
        if one.verdict == HARNESS or not brief:
            yield from _details(one, width)
        else:
            yield from labelled("runs", words.equal(one), width)
            yield from labelled("note", one.note, width)
        if not brief:
            yield ()
    if report.evidence and report.evidence[-1].verdict in _BRIEF:
        yield ()


def _like(one: Evidence) -> str:
    """Which call of the program the case was made like, and what still differs from it."""
    place = f"as called in {one.case.like}" if one.case.like else ""
    unlike = f"not as in the program: {one.unlike}" if one.unlike else ""
    return "; ".join(filter(None, (place, unlike.replace("not as in the program", "but") if place else unlike)))


def _header(one: Evidence) -> Line:
    case = one.case
    cast = f"autocast {case.autocast}" if case.autocast else ""
    where = ", ".join(part for part in (one.device, case.dtype, cast, case.execution, case.direction) if part)
    name = f"{case.op} ({case.name})" if case.name else case.op
    more = f" (and {', '.join(one.verdicts[1:])})" if len(one.verdicts) > 1 else ""
    return (
        (one.verdict, _STYLES.get(one.verdict, "bold")),
        (" ", ""), (printable(name), "bold"), (f" [{where}]", "dim"), (more, ""),
    )  # fmt: skip


def _details(one: Evidence, width: int) -> Iterator[Line]:
    if one.verdict != HARNESS:
        yield from labelled("runs", words.differing(one), width)
        yield from labelled("threads", words.by_threads(one.tallies), width, indent=11)
        yield from labelled("far", words.far(one), width)
        yield from labelled("mode", "deterministic mode " + words.mode(one), width)
        yield from labelled("cost", words.cost(one), width)
    yield from labelled("note", one_line(one.note), width)


def _summary(report: EvidenceReport, width: int) -> Iterator[Line]:
    found = Counter(one.verdict for one in report.evidence)
    parts = [f"{found[verdict]} {verdict}" for verdict in OUTCOMES if found[verdict]]
    text = f"{words.headline(report)}; {count(len(report.evidence), 'case')}: {', '.join(parts)}"
    others = (report.unexecuted, report.unchecked, report.unfinished, report.stopped)
    nothing = "Nothing was executed." if any(others) else "Nothing was executed: no finding is about an op."
    yield ((text if parts else nothing, "bold"),)
    yield from item("machine", words.machine(report), width)
    if report.unexecuted:
        yield (("  not executed:", "bold"),)
        for one in report.unexecuted:
            yield from hanging(f"{printable(one.op)}: {one_line(one.reason)}", width)
    if report.unchecked:
        yield (("  not checked:", "bold red"),)
        for file in report.unchecked:
            yield from hanging(f"{printable(file.path)}: {one_line(file.reason)}", width)
    if report.stopped:
        left = count(len(report.unfinished), "case")
        partial = f"partial report, {one_line(report.stopped)}: {left} not executed"
        yield ((f"  {partial if report.unfinished else one_line(report.stopped)}", "bold red"),)
        for one in report.unfinished:
            yield from hanging(printable(one.op), width)
