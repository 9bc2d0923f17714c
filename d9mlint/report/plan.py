"""The determinism plans of programs as text: one page that a person can check."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from d9mlint.model import PlanRow, Report
from d9mlint.report.lines import Line, cell, hanging, joined, labelled, place
from d9mlint.report.targets import describe
from d9mlint.report.words import one_line, printable


def render(report: Report, *, color: bool = False, width: int = 100) -> str:
    """The plan of each entry, and what was not followed or not checked."""
    return joined([line for entry in report.entries for line in _plan(entry, report, width)], color=color)


def _plan(entry: str, report: Report, width: int) -> Iterator[Line]:
    yield ((f"determinism plan of {printable(entry)}", "bold"),)
    if entry in report.targets:
        yield from labelled("versions", one_line(describe(report.targets[entry])), width, indent=14)
    for section, rows in groupby(report.plans.get(entry, ()), key=lambda row: row.section):
        yield ((f"  {section}:", "bold"),)
        for subject, told in groupby(rows, key=lambda row: row.subject):
            yield ((f"    {subject}", ""),)
            for row in told:
                for line in hanging(_row(row), width - 2):
                    yield (("  ", ""), *line)
    calls = report.coverage[entry].unfollowed if entry in report.coverage else ()
    unread = [one for one in report.unchecked if one.path == entry]
    if calls or unread:
        yield (("  not followed:", "bold"),)
    for call in calls:
        yield from hanging(f"{place(call.location)}: {one_line(call.reason)}", width)
    for one in unread:
        yield from hanging(one_line(one.reason), width)
    yield ()


def _row(row: PlanRow) -> str:
    where = f" ({place(row.location)}{cell(row.location)})" if row.location is not None else ""
    when = f", when {' and '.join(map(one_line, row.when))}" if row.when else ""
    return f"{one_line(row.text)}{where}{when}"
