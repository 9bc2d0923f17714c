"""The report for people: what happens, where, when, why, and what to do about it."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from d9mlint.model import NOISES, SEVERITIES, Finding, Location, Report
from d9mlint.report.excerpt import excerpt, source_lines
from d9mlint.report.targets import Group, describe, groups
from d9mlint.report.words import conditions, count, first_sentence, listing, one_line, printable

Span = tuple[str, str]
"""Text and its style (empty for none)."""
Line = tuple[Span, ...]

_MOST = 5
_NARROWEST = 40
_STYLES = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
_NOISE_WORDS = {"algo": "random choices", "impl": "implementation"}


def render(report: Report, *, color: bool = False, width: int = 100) -> str:
    """The whole report; colours add escape sequences and change nothing else."""
    width = max(width, _NARROWEST)
    lines = [*_findings(report, width), *_summary(report, width)]
    paint = _painted if color else _plain
    return "".join(paint(line) + "\n" for line in lines)


def _plain(line: Line) -> str:
    return "".join(text for text, _ in line)


def _painted(line: Line) -> str:
    # Style.render rather than a Console: no wrapping, no look at the environment, and half the import time.
    from rich.color import ColorSystem
    from rich.style import Style

    return "".join(
        Style.parse(style).render(text, color_system=ColorSystem.STANDARD) if style and text else text
        for text, style in line
    )


def _findings(report: Report, width: int) -> Iterator[Line]:
    sources = {path: source_lines(report.sources[path]) for path in _paths(report) if path in report.sources}
    explained: set[str] = set()
    for finding in report.findings:
        rule = report.rules.get(finding.rule)
        why = first_sentence(rule.why) if rule and finding.rule not in explained else ""
        explained.add(finding.rule)
        yield _header(finding)
        yield from _excerpt(finding, sources.get(finding.location.path, []), width)
        yield from _labelled("when", conditions(finding), width)
        yield from _labelled("why", why, width)
        yield from _labelled("fix", finding.remedy, width)
        for related in finding.related:
            yield from _labelled("see", f"{_place(related.location)}: {one_line(related.note)}", width)
        yield ()


def _paths(report: Report) -> set[str]:
    return {finding.location.path for finding in report.findings}


def _place(location: Location) -> str:
    return f"{printable(location.path)}:{location.line}"


def _header(finding: Finding) -> Line:
    return (
        (f"{_place(finding.location)}:{finding.location.column}: ", ""),
        (finding.severity, _STYLES.get(finding.severity, "bold")),
        (" ", ""),
        (finding.rule, "bold"),
        (f" [{finding.id}]", "dim"),
        (f" {one_line(finding.message)}", ""),
    )


def _excerpt(finding: Finding, lines: list[str], width: int) -> Iterator[Line]:
    """The first line of the range and its underline; nothing where the source is not at hand."""
    place = finding.location
    if not 1 <= place.line <= len(lines) or not lines[place.line - 1].strip():
        return
    gutter = f"{place.line:>5} | "
    end = place.end_column if place.end_line == place.line else None
    shown = excerpt(lines[place.line - 1], place.column, end, width - len(gutter))
    yield (gutter, "dim"), (shown.line, "")
    caret = "^" * shown.width
    yield (" " * (len(gutter) - 2) + "| ", "dim"), (" " * shown.start, ""), (caret, _STYLES.get(finding.severity, ""))


def _labelled(label: str, text: str, width: int, indent: int = 8) -> Iterator[Line]:
    """``label: text`` with a hanging indent; nothing for an empty text."""
    head = f"  {label}:".ljust(indent)
    for number, line in enumerate(_wrapped(text, width - indent)):
        yield ((" " * indent, "") if number else (head, "bold")), (line, "")


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Prose filled to ``width``; indented lines are code and stay as they are."""
    for kind, block in groupby(text.expandtabs(4).splitlines(), key=_kind):
        if kind == "code":
            yield from ("  " + printable(line) for line in textwrap.dedent("\n".join(block)).splitlines())
        elif kind == "prose":
            yield from _filled(one_line(" ".join(block)), width)


def _kind(line: str) -> str:
    if not line.strip():
        return "blank"
    return "code" if line.startswith("  ") else "prose"


def _filled(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _summary(report: Report, width: int) -> Iterator[Line]:
    yield ((_headline(report), "bold"),)
    yield from _item("noise", _noise(report.findings), width)
    yield from _targets(groups(report), width)
    yield from _item("entries", listing(report.entries, _MOST), width)
    yield from _item("files", str(report.files), width)
    yield from _item("not shown", _not_shown(report), width)
    if fixable := sum(any(fix.safe for fix in finding.fixes) for finding in report.findings):
        yield from _item("fixable", f"{fixable} with --fix", width)
    if report.unchecked:
        yield (("  not checked:", "bold red"),)
        for unchecked in report.unchecked:
            yield from _hanging(f"{printable(unchecked.path)}: {one_line(unchecked.reason)}", width)


def _item(label: str, text: str, width: int) -> Iterator[Line]:
    return _labelled(label, text, width, indent=14)


def _headline(report: Report) -> str:
    if not report.findings:
        return "No findings in what could be checked." if report.unchecked else "No findings."
    found = Counter(finding.severity for finding in report.findings)
    parts = [
        f"{found[severity]} info" if severity == "info" else count(found[severity], severity)
        for severity in reversed(SEVERITIES)
        if found[severity]
    ]
    return f"{count(len(report.findings), 'finding')}: {', '.join(parts)}"


def _noise(findings: Iterable[Finding]) -> str:
    found = Counter(finding.noise for finding in findings)
    return ", ".join(f"{found[noise]} {noise} ({_NOISE_WORDS[noise]})" for noise in NOISES if found[noise])


def _targets(found: tuple[Group, ...], width: int) -> Iterator[Line]:
    if len(found) <= 1:
        for group in found:
            yield from _item("target", describe(group.target), width)
        return
    yield (("  targets:", "bold"),)
    for group in found[:_MOST]:
        yield from _hanging(f"{one_line(describe(group.target))}: {listing(group.paths, _MOST)}", width)
    if len(found) > _MOST:
        yield from _hanging(f"... and {len(found) - _MOST} more", width)


def _hanging(text: str, width: int) -> Iterator[Line]:
    for number, line in enumerate(_filled(text, width - 6)):
        yield ((("      " if number else "    ") + line, ""),)


def _not_shown(report: Report) -> str:
    parts = (
        (report.suppressed, "suppressed"),
        (report.baselined, "in the baseline"),
        (report.hidden, "hidden (low confidence)"),
    )
    return ", ".join(f"{number} {what}" for number, what in parts if number)
