"""One line a finding, ``path:line:column: severity rule message``, for editors and for grep."""

from __future__ import annotations

from d9mlint.model import Finding, Report, Unchecked
from d9mlint.report.lines import place
from d9mlint.report.words import conditions, one_line, printable


def render(report: Report) -> str:
    """A line for each finding, and for each file that could not be checked; empty where there is nothing to say."""
    lines = [*map(_finding, report.findings), *map(_unchecked, report.unchecked)]
    return "".join(line + "\n" for line in lines)


def _finding(finding: Finding) -> str:
    when = conditions(finding)
    where = f"{place(finding.location)}:{finding.location.column}"
    told = one_line(finding.message) + (f" (when {when})" if when else "")
    return f"{where}: {finding.severity} {finding.rule} {told}"


def _unchecked(unchecked: Unchecked) -> str:
    return f"{printable(unchecked.path)}:1:1: error not-checked {one_line(unchecked.reason)}"
