"""The report for people: what happens, where, when, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Report
from d9mlint.report import findings, summary
from d9mlint.report.excerpt import source_lines
from d9mlint.report.lines import NARROWEST, Line, cell, hanging, item, joined, place
from d9mlint.report.targets import Group, describe, groups
from d9mlint.report.words import listing, one_line, printable

_MOST = 5


def render(report: Report, *, color: bool = False, width: int = 100, verbose: bool = False) -> str:
    """The whole report; colours add escape sequences and change nothing else.

    ``verbose`` adds why, and all places, of each finding, and all of the coverage.
    """
    width = max(width, NARROWEST)
    coverage = _coverage_of_each(report, width) if verbose else ()
    return joined([*_findings(report, width, verbose), *_summary(report, width), *coverage], color=color)


def _findings(report: Report, width: int, verbose: bool) -> Iterator[Line]:
    sources = {path: source_lines(report.sources[path]) for path in _paths(report) if path in report.sources}
    explained: set[str] = set()
    for finding in report.findings:
        source = sources.get(finding.location.file, [])
        if verbose:
            yield from findings.whole(
                finding, None if finding.rule in explained else report.rules.get(finding.rule), source, width
            )
            explained.add(finding.rule)
        else:
            yield from findings.brief(finding, source, width)


def _paths(report: Report) -> set[str]:
    return {finding.location.file for finding in report.findings}


def _summary(report: Report, width: int) -> Iterator[Line]:
    yield ((summary.headline(report), "bold"),)
    yield from item("noise", summary.noise(report.findings), width)
    yield from item("evidence", summary.evidence(report.findings), width)
    yield from _targets(groups(report), width)
    yield from item("entries", listing(report.entries, _MOST), width)
    yield from _launches(report, width)
    yield from item("files", str(report.files), width)
    yield from item("changed", summary.changed(report.changed), width)
    yield from item("coverage", summary.coverage(report), width)
    yield from item("not shown", summary.not_shown(report), width)
    if fixable := sum(summary.may_be_fixed(finding, report) for finding in report.findings):
        yield from item("fixable", f"up to {fixable} with --fix (--diff shows how)", width)
    if report.unchecked:
        yield (("  not checked:", "bold red"),)
        for unchecked in report.unchecked:
            yield from hanging(f"{printable(unchecked.path)}: {one_line(unchecked.reason)}", width)


def _coverage_of_each(report: Report, width: int) -> Iterator[Line]:
    for entry, one in sorted(report.coverage.items()):
        yield ((f"  coverage of {printable(entry)}:", "bold"),)
        yield from hanging(summary.coverage_of(one), width)
        if not one.kept:
            yield from hanging(f"keeps {summary.TRIED}", width)
        for path, number in one.uncalled.items():
            yield from hanging(f"{printable(path)}: {number} not seen to be called", width)
        for call in one.unfollowed:
            where = f"{place(call.location)}{cell(call.location)}"
            what = "a call" if call.call == "?" else f"`{one_line(call.call)}`"
            yield from hanging(f"{where}: {what} was not followed: {one_line(call.reason)}", width)


def _targets(found: tuple[Group, ...], width: int) -> Iterator[Line]:
    if len(found) <= 1:
        for group in found:
            yield from item("target", describe(group.target), width)
        return
    yield (("  targets:", "bold"),)
    for group in found[:_MOST]:
        yield from hanging(f"{one_line(describe(group.target))}: {listing(group.paths, _MOST)}", width)
    if len(found) > _MOST:
        yield from hanging(f"... and {len(found) - _MOST} more", width)


def _launches(report: Report, width: int) -> Iterator[Line]:
    """Who starts the entries: all of one entry, the first of several."""
    if not report.launches:
        return
    if len(report.entries) == 1:
        launches = report.launches[report.entries[0]]
        more = f"; and {len(launches) - _MOST} more" if len(launches) > _MOST else ""
        yield from item("started by", "; ".join(map(summary.launched, launches[:_MOST])) + more, width)
        return
    yield (("  started by:", "bold"),)
    for entry, launches in sorted(report.launches.items())[:_MOST]:
        more = f"; and {len(launches) - 1} more" if len(launches) > 1 else ""
        yield from hanging(f"{printable(entry)}: {summary.launched(launches[0])}{more}", width)
    if len(report.launches) > _MOST:
        yield from hanging(f"... and {len(report.launches) - _MOST} more entries", width)
