"""A study for people: how far runs lie apart, from which source, and what that means for comparisons."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model.study import Spread, StudyReport
from d9mlint.report.lines import NARROWEST, Line, hanging, item, joined
from d9mlint.report.study import words
from d9mlint.report.words import count, machine, one_line, printable


def render(report: StudyReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report; colours add escape sequences and change nothing else."""
    width = max(width, NARROWEST)
    lines = [*_head(report), *(line for one in report.spreads for line in _group(one, width)), *_means(report, width)]
    return joined(lines, color=color)


def _head(report: StudyReport) -> Iterator[Line]:
    yield (
        (f"{printable(report.program)}: ", ""),
        (f"{count(report.asked, 'run')} of each group, metric `{one_line(report.metric)}`", "bold"),
    )


def _group(one: Spread, width: int) -> Iterator[Line]:
    yield ()
    yield ((f"{one.group.upper()}: ", "bold"), (words.TITLES[one.group], ""))
    yield from item("metric", words.metric(one), width)
    if one.deviation is not None:
        yield from item("deviation", f"{one.deviation:.3g}", width)
    yield from item("churn", words.churn(one), width)
    yield from item("weights", words.distance(one), width)
    for why in one.failed:
        yield from item("failed", one_line(why), width)


def _means(report: StudyReport, width: int) -> Iterator[Line]:
    yield ()
    if report.total is not None:
        yield from item("together", f"standard deviation {report.total:.3g}", width)
    yield from item("means", words.means(report), width)
    yield from item("needed", words.needed(report), width)
    yield from item("machine", machine(report.environment), width)
    for note in report.notes:
        yield from hanging(one_line(note), width)
    if report.stopped:
        yield ((f"  partial report: {one_line(report.stopped)}", "bold red"),)
