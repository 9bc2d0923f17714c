"""The page of a check: what was found as a table that sorts, filters and unfolds, then the programs and the gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from d9mlint.model import SEVERITIES, Report
from d9mlint.report import html, summary
from d9mlint.report.check.programs import calls, program
from d9mlint.report.check.rows import Row, row
from d9mlint.report.excerpt import source_lines
from d9mlint.report.targets import describe, groups
from d9mlint.report.words import count, one_line, printable

_TEMPLATE = "check/page.html.j2"
_SEVERITIES = {
    "error": "a program stops, or does not do what it says",
    "warning": "two runs can give different results",
    "info": "good to know, seldom the reason",
}


def render(report: Report) -> str:
    """The whole page."""
    anchors = {entry: f"program-{number}" for number, entry in enumerate(report.entries, 1)}
    rows, followed = _rows(report, anchors), calls(report)
    found: dict[str, list[Row]] = {anchor: [] for anchor in anchors.values()}
    for one in rows:
        for anchor, _ in one.entries:
            found.get(anchor, []).append(one)
    return html.render(
        _TEMPLATE,
        headline=summary.headline(report, "see below"),
        cards=_cards(report),
        facts=[(name, value) for name, value in _facts(report) if value],
        rows=rows,
        severities=[name for name in reversed(SEVERITIES) if any(one.severity == name for one in rows)],
        families=sorted({one.family for one in rows} - {""}),
        entries=[(key, printable(entry)) for entry, key in anchors.items() if found[key]] if len(anchors) > 1 else [],
        programs=[program(entry, report, key, found[key], followed) for entry, key in anchors.items()],
        coverage=summary.coverage(report),
        calls=tuple(followed.values()),
        unchecked=[(printable(one.path), one_line(one.reason)) for one in report.unchecked],
    )


def _rows(report: Report, anchors: Mapping[str, str]) -> list[Row]:
    """A row for each finding, in the order of the report, the gravest first."""
    sources = {path: source_lines(text) for path, text in sorted(report.sources.items())}
    rows = [row(number, one, report, sources, anchors) for number, one in enumerate(report.findings, 1)]
    return sorted(rows, key=lambda one: one.rank)


def _cards(report: Report) -> list[tuple[str, str, str]]:
    """Number, what it counts, and more about it."""
    found = Counter(finding.severity for finding in report.findings)
    programs, files = len(report.entries), f"{count(report.files, 'file')} looked at"
    unchecked = "named below" if report.unchecked else "nothing was left out"
    return [
        *((str(found[name]), _plural(found[name], name), _SEVERITIES[name]) for name in reversed(SEVERITIES)),
        (str(programs), _plural(programs, "program"), files),
        (str(len(report.unchecked)), "not checked", unchecked),
    ]


def _plural(number: int, noun: str) -> str:
    return count(number, noun).partition(" ")[2]


def _facts(report: Report) -> list[tuple[str, str]]:
    """What holds for the report as a whole."""
    fixable = sum(summary.may_be_fixed(finding, report) for finding in report.findings)
    return [
        ("judged for", _target(report)),
        ("kinds of noise", summary.noise(report.findings)),
        ("changed", summary.changed(report.changed)),
        ("evidence", summary.evidence(report.findings)),
        ("not shown", summary.not_shown(report)),
        ("fixable", f"up to {fixable} with `d9mlint check --fix` (`--diff` shows how)" if fixable else ""),
    ]


def _target(report: Report) -> str:
    """The versions and the device; of several the one that most paths share."""
    found = groups(report)
    if not found:
        return ""
    told = one_line(describe(found[0].target))
    if len(found) == 1:
        return told
    return f"{count(len(found), 'different target')}, each told with its program; most often {told}"
