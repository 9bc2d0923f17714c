"""The report for people: what happens, where, when, why, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from d9mlint.model import NOISES, SEVERITIES, Finding, Launch, Report
from d9mlint.report import findings
from d9mlint.report.excerpt import source_lines
from d9mlint.report.lines import NARROWEST, Line, cell, hanging, item, joined, place
from d9mlint.report.targets import Group, describe, groups
from d9mlint.report.words import count, listing, one_line, printable, unique

_MOST = 5
_UNSEEDED = "unseeded-"
"""How the cause is called whose cure is a seed."""
_DEFAULTS = (" is not given", " is not set", "(the default)", " is started")
_TRIED = "nothing of what is computed (a self-test that builds, runs and asserts), so nothing that varies matters"
_IDLE = "nothing that a rule is about (no generator, framework or setting), so no calls are followed"
_NOISE_WORDS = {"algo": "random choices", "impl": "implementation"}


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
    yield ((_headline(report), "bold"),)
    yield from item("noise", _noise(report.findings), width)
    yield from item("evidence", _evidence(report.findings), width)
    yield from _targets(groups(report), width)
    yield from item("entries", listing(report.entries, _MOST), width)
    yield from _launches(report, width)
    yield from item("files", str(report.files), width)
    yield from item("coverage", _coverage(report), width)
    yield from item("not shown", _not_shown(report), width)
    if fixable := sum(_may_be_fixed(finding, report) for finding in report.findings):
        yield from item("fixable", f"up to {fixable} with --fix (--diff shows how)", width)
    if report.unchecked:
        yield (("  not checked:", "bold red"),)
        for unchecked in report.unchecked:
            yield from hanging(f"{printable(unchecked.path)}: {one_line(unchecked.reason)}", width)


def _may_be_fixed(finding: Finding, report: Report) -> bool:
    """Whether a safe fix may cure it; to find out for sure takes another check."""
    safe = any(fix.safe for fix in finding.fixes) or finding.cause.startswith(_UNSEEDED)
    return safe or bool(finding.rule in report.rules and report.rules[finding.rule].cure.get("safe"))


def _headline(report: Report) -> str:
    if not report.findings:
        calls = _unfollowed(report)
        but = f" ({calls}: see --verbose)" if calls else ""
        return f"No findings in what could be checked{but}." if report.unchecked else f"No findings{but}."
    found = Counter(finding.severity for finding in report.findings)
    parts = [
        f"{found[severity]} info" if severity == "info" else count(found[severity], severity)
        for severity in reversed(SEVERITIES)
        if found[severity]
    ]
    return f"{count(len(report.findings), 'finding')}: {', '.join(parts)}{_unseeded(report)}"


def _unseeded(report: Report) -> str:
    """Which programs draw from generators that nothing seeds when they are run without any flag."""
    found = (one for one in report.findings if one.cause.startswith(_UNSEEDED) and one.severity != "info")
    programs = unique(entry for one in found if all(map(_by_default, one.when)) for entry in one.entries)
    if not programs:
        return ""
    named = f"`{printable(programs[0])}`" + (f" and of {len(programs) - 1} more" if len(programs) > 1 else "")
    return f"; the default run of {named} is not seeded"


def _by_default(condition: str) -> bool:
    """Whether a condition holds where no flag is given, as far as its words say."""
    return condition.endswith(_DEFAULTS)


def _coverage(report: Report) -> str:
    """How much of the programs was seen to run: of all entries together."""
    found = [one for one in report.coverage.values() if one.interpreted]
    idle = len(report.coverage) - len(found)
    programs = "the program holds" if len(report.coverage) == 1 else f"{idle} of {len(report.coverage)} programs hold"
    tried = sum(not one.kept for one in found)
    parts = [
        _unfollowed(report),
        f"{programs} {_IDLE}" if idle else "",
        f"{count(tried, 'program')} {'keeps' if tried == 1 else 'keep'} {_TRIED}" if tried else "",
    ]
    if functions := sum(one.functions for one in found):
        called = functions - sum(sum(one.uncalled.values()) for one in found)
        entries = f", counted for each of {len(found)} entries" if len(found) > 1 else ""
        parts.insert(0, f"{called} of {functions} functions are seen to be called{entries}")
    return "; ".join(filter(None, parts))


def _unfollowed(report: Report) -> str:
    """How many calls could not be followed; empty where all could."""
    number = sum(len(one.unfollowed) for one in report.coverage.values())
    return f"{count(number, 'call')} could not be followed" if number else ""


def _coverage_of_each(report: Report, width: int) -> Iterator[Line]:
    for entry, one in sorted(report.coverage.items()):
        missed = sum(one.uncalled.values())
        yield ((f"  coverage of {printable(entry)}:", "bold"),)
        called = (
            f"{one.functions - missed} of {one.functions} functions in {count(one.files, 'file')} are seen to be called"
        )
        yield from hanging(called if one.interpreted else f"{count(one.files, 'file')} with {_IDLE}", width)
        if not one.kept:
            yield from hanging(f"keeps {_TRIED}", width)
        for path, number in one.uncalled.items():
            yield from hanging(f"{printable(path)}: {number} not seen to be called", width)
        for call in one.unfollowed:
            where = f"{place(call.location)}{cell(call.location)}"
            what = "a call" if call.call == "?" else f"`{one_line(call.call)}`"
            yield from hanging(f"{where}: {what} was not followed: {one_line(call.reason)}", width)


def _noise(findings: Iterable[Finding]) -> str:
    found = Counter(finding.noise for finding in findings)
    return ", ".join(f"{found[noise]} {noise} ({_NOISE_WORDS[noise]})" for noise in NOISES if found[noise])


def _evidence(findings: Iterable[Finding]) -> str:
    """How far the evidence that the user named bears on the findings."""
    given = [finding for finding in findings if any(not one.record.own for one in finding.evidence)]
    confirmed = sum(finding.confirmed for finding in given)
    parts = ((confirmed, "confirmed"), (len(given) - confirmed, "not confirmed by the evidence about their ops"))
    return ", ".join(f"{number} {what}" for number, what in parts if number)


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
        yield from item("started by", "; ".join(map(_launch, launches[:_MOST])) + more, width)
        return
    yield (("  started by:", "bold"),)
    for entry, launches in sorted(report.launches.items())[:_MOST]:
        more = f"; and {len(launches) - 1} more" if len(launches) > 1 else ""
        yield from hanging(f"{printable(entry)}: {_launch(launches[0])}{more}", width)
    if len(report.launches) > _MOST:
        yield from hanging(f"... and {len(report.launches) - _MOST} more entries", width)


def _launch(launch: Launch) -> str:
    """``scripts/run.sh:12 with PYTHONHASHSEED=0``."""
    known = [f"{v.name}={'?' if v.value is None else v.value}" for v in launch.environment]
    return one_line(launch.place + (f" with {', '.join(known)}" if known else ""))


def _not_shown(report: Report) -> str:
    parts = (
        (report.suppressed, "suppressed"),
        (report.baselined, "in the baseline"),
        (report.hidden, "hidden (low confidence)"),
    )
    return ", ".join(f"{number} {what}" for number, what in parts if number)
