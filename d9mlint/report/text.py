"""The report for people: what happens, where, when, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from d9mlint.model import Report
from d9mlint.report import findings, summary
from d9mlint.report.excerpt import source_lines
from d9mlint.report.lines import NARROWEST, Line, cell, hanging, item, joined, place
from d9mlint.report.targets import Group, describe, groups, packages
from d9mlint.report.words import count, listing, one_line, printable

_MOST = 5


def render(report: Report, *, color: bool = False, width: int = 100, verbose: bool = False, links: bool = False) -> str:
    """The whole report; colours and links add escape sequences and change nothing else.

    ``verbose`` adds why, and all places, of each finding, and all of the coverage; ``links`` lead from the names of
    rules to their files.
    """
    width = max(width, NARROWEST)
    coverage = _coverage_of_each(report, width) if verbose else ()
    told = _summary(report, width) if verbose else _totals(report, width)
    return joined([*_findings(report, width, verbose, links), *told, *coverage], color=color)


def _findings(report: Report, width: int, verbose: bool, links: bool) -> Iterator[Line]:
    sources = {path: source_lines(report.sources[path]) for path in _paths(report) if path in report.sources}
    explained: set[str] = set()
    for finding in report.findings:
        source = sources.get(finding.location.file, [])
        rule = report.rules.get(finding.rule)
        page = Path(rule.path).absolute().as_uri() if links and rule is not None and rule.path else ""
        if verbose:
            yield from findings.whole(finding, None if finding.rule in explained else rule, source, width, page)
            explained.add(finding.rule)
        else:
            yield from findings.brief(finding, source, width, page)


def _paths(report: Report) -> set[str]:
    return {finding.location.file for finding in report.findings}


def _totals(report: Report, width: int) -> Iterator[Line]:
    """One line of totals, what they are valid for, and what could not be checked."""
    headline = summary.headline(report)
    totals = "; ".join(summary.totals(report))
    between = " " if headline.endswith(".") else "; "
    yield (headline, "bold"), (f"{between}{totals}" if totals else "", "")
    yield from item("evidence", summary.evidence(report.findings), width)
    yield from item("changed", summary.changed(report.changed), width)
    found = groups(report)
    more = f"; {count(len(found) - 1, 'more target')} (--verbose)" if len(found) > 1 else ""
    first = next((group for group in found if packages(group.target)), found[0] if found else None)
    yield from item("target", describe(first.target) + more if first is not None else "", width)
    if not report.findings:  # what that rests on
        yield from launches(report, width)
        yield from item("coverage", summary.coverage(report), width)
    yield from not_checked(report, width)


def _summary(report: Report, width: int) -> Iterator[Line]:
    yield ((summary.headline(report), "bold"),)
    yield from item("noise", summary.noise(report.findings), width)
    yield from item("evidence", summary.evidence(report.findings), width)
    yield from targets(groups(report), width)
    yield from item("entries", listing(report.entries, _MOST), width)
    yield from launches(report, width)
    yield from item("files", str(report.files), width)
    yield from item("changed", summary.changed(report.changed), width)
    yield from item("coverage", summary.coverage(report), width)
    yield from item("not shown", summary.not_shown(report), width)
    if fixable := summary.fixable(report):
        yield from item("fixable", f"up to {fixable} with --fix (--diff shows how)", width)
    yield from not_checked(report, width)


def not_checked(report: Report, width: int) -> Iterator[Line]:
    """What could not be read or followed, and why."""
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


def targets(found: tuple[Group, ...], width: int) -> Iterator[Line]:
    """The versions and why, by the entries that share them."""
    if len(found) <= 1:
        for group in found:
            yield from item("target", describe(group.target), width)
        return
    yield (("  targets:", "bold"),)
    for group in found[:_MOST]:
        yield from hanging(f"{one_line(describe(group.target))}: {listing(group.paths, _MOST)}", width)
    if len(found) > _MOST:
        yield from hanging(f"... and {len(found) - _MOST} more", width)


def launches(report: Report, width: int) -> Iterator[Line]:
    """Who starts the entries: all of one entry, the first of several."""
    if not report.launches:
        return
    if len(report.entries) == 1:
        told = report.launches[report.entries[0]]
        more = f"; and {len(told) - _MOST} more" if len(told) > _MOST else ""
        yield from item("started by", "; ".join(map(summary.launched, told[:_MOST])) + more, width)
        return
    yield (("  started by:", "bold"),)
    for entry, told in sorted(report.launches.items())[:_MOST]:
        more = f"; and {len(told) - 1} more" if len(told) > 1 else ""
        yield from hanging(f"{printable(entry)}: {summary.launched(told[0])}{more}", width)
    if len(report.launches) > _MOST:
        yield from hanging(f"... and {len(report.launches) - _MOST} more entries", width)
