"""A finding as a row of the page, with all that unfolds below it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from d9mlint import suppress
from d9mlint.model import SEVERITIES, Finding, Fix, Location, Related, Report, Rule
from d9mlint.report.excerpt import ShownLine, around, cells
from d9mlint.report.lines import Block, blocks, cell, place
from d9mlint.report.summary import may_be_fixed
from d9mlint.report.words import one_line, printable

_TONES = {"error": "yes", "warning": "conditional", "info": "depends"}
_NOISES = {
    "algo": "algo: a random choice of the algorithm (initial weights, shuffling, dropout)",
    "impl": "impl: the implementation (kernels, threads, the order of sums)",
}
_LONGEST = 160
"""Characters of a line of code beside a place."""
_SAFE = "`--fix` may cure it without changing what the program means (`--diff` shows how)"
_UNSAFE = "`--fix --unsafe-fixes` may cure it, which changes speed or behaviour (`--diff` shows how)"


class Place(NamedTuple):
    """Another place of a finding: where it is in its file, what it has to do with it, and the line there."""

    at: str
    note: str
    rule: str
    code: str


class Source(NamedTuple):
    """Where a rule's knowledge is from; ``url`` is empty where it is no link."""

    text: str
    url: str


class Patch(NamedTuple):
    """A patch that comes with a finding."""

    message: str
    safe: bool
    edits: tuple[tuple[str, str], ...]
    """Place and new text."""


class Row(NamedTuple):
    """A finding as the page shows it; ``key`` is its anchor."""

    key: str
    order: str
    severity: str
    rank: int
    tone: str
    rule: str
    id: str
    family: str
    confirmed: bool
    message: str
    when: tuple[str, ...]
    file: str
    """The file's name, the line and the column."""
    folder: str
    place: str
    entries: tuple[tuple[str, str], ...]
    """Anchor and path."""
    lines: tuple[ShownLine, ...]
    remedy: tuple[Block, ...]
    why: tuple[Block, ...]
    summary: str
    places: tuple[tuple[str, tuple[Place, ...]], ...]
    """By file."""
    patches: tuple[Patch, ...]
    fix: str
    evidence: tuple[tuple[str, bool], ...]
    """What was seen, and whether it confirms the finding."""
    sources: tuple[Source, ...]
    facts: tuple[tuple[str, str], ...]
    hint: str


def row(
    number: int, finding: Finding, report: Report, sources: Mapping[str, list[str]], anchors: Mapping[str, str]
) -> Row:
    """The row of the finding that is the report's ``number``-th; ``anchors`` are those of the programs."""
    at, rule = finding.location, report.rules.get(finding.rule)
    folder, _, file = printable(at.file).rpartition("/")
    name = printable(finding.rule)
    return Row(
        key=f"{name}-{printable(finding.fingerprint) or number}", order=f"{number:06}",
        severity=finding.severity, rank=-SEVERITIES.index(finding.severity), tone=_TONES[finding.severity],
        rule=name, id=finding.id, family=printable(rule.family) if rule else "", confirmed=finding.confirmed,
        message=one_line(finding.message), when=tuple(map(one_line, finding.when)),
        file=f"{file}:{at.line}:{at.column}{cell(at)}", folder=folder, place=place(at),
        entries=tuple((anchors.get(entry, ""), printable(entry)) for entry in finding.entries),
        lines=around(at, sources.get(at.file, [])),
        remedy=tuple(blocks(finding.remedy)), why=tuple(blocks(rule.why)) if rule else (),
        summary=one_line(rule.summary) if rule else "", places=_places(finding.related, sources),
        patches=tuple(map(_patch, finding.fixes)), fix=_fix(finding, rule, report),
        evidence=tuple((one_line(one.told), one.confirms) for one in finding.evidence),
        sources=tuple(map(source, rule.sources)) if rule else (),
        facts=tuple(_facts(finding)), hint=suppress.form(at.path).replace("[name]", f"[{name}]"),
    )  # fmt: skip


def _places(related: Iterable[Related], sources: Mapping[str, list[str]]) -> tuple[tuple[str, tuple[Place, ...]], ...]:
    """The other places by file, in the order in which the finding names them."""
    found: dict[str, dict[Place, None]] = {}
    for one in related:
        at = one.location
        told = Place(
            f"line {at.line}{cell(at)}", one_line(one.note), printable(one.rule), _code(at, sources.get(at.file, []))
        )
        found.setdefault(printable(at.file), {})[told] = None
    return tuple((file, tuple(places)) for file, places in found.items())


def _code(at: Location, lines: list[str]) -> str:
    line = lines[at.line - 1].strip() if 1 <= at.line <= len(lines) else ""
    return "".join(cells(line[:_LONGEST])) + (" ..." if len(line) > _LONGEST else "")


def _patch(fix: Fix) -> Patch:
    edits = tuple((place(edit.location), "\n".join(map(printable, edit.text.splitlines()))) for edit in fix.edits)
    return Patch(one_line(fix.message), fix.safe, edits)


def _fix(finding: Finding, rule: Rule | None, report: Report) -> str:
    """Which fixes may cure it; to find out for sure takes another check."""
    if finding.location.path.endswith(".ipynb"):
        return ""
    if may_be_fixed(finding, report):
        return _SAFE
    return _UNSAFE if finding.fixes or (rule and rule.cure) else ""


def _facts(finding: Finding) -> Iterable[tuple[str, str]]:
    yield "noise", _NOISES.get(finding.noise, finding.noise)
    yield "hazard", finding.hazard
    yield "confidence", finding.confidence
    if finding.ops:
        yield "ops", ", ".join(map(one_line, finding.ops))


# -- sources ---------------------------------------------------------------------------------------------------------

_URL = re.compile(r"https?://[^\s\"'<>]+")
_THREAD = re.compile(r"(?:issue|github):([\w.-]+/[\w.-]+)#(\d+)\b")
_CODE_AT = re.compile(r"github:([\w.-]+/[\w.-]+?)(?:@([\w.-]+))?:([\w./-]+?)(?::(\d+))?(?=$|[\s,;(])")
_PACKAGE = re.compile(r"pkg:([\w.-]+)==([\w.+-]+)")


def source(text: str) -> Source:
    """A source as the rule names it, and the page that it is about."""
    shown = one_line(text)
    if found := _URL.search(shown):
        return Source(shown.removeprefix("doc:"), found[0])
    if found := _THREAD.match(shown):
        return Source(shown.partition(":")[2], f"https://github.com/{found[1]}/issues/{found[2]}")
    if found := _CODE_AT.match(shown):
        repository, revision, path, line = found.groups()
        url = f"https://github.com/{repository}/blob/{revision or 'HEAD'}/{path}"
        return Source(shown.partition(":")[2], f"{url}#L{line}" if line else url)
    if found := _PACKAGE.match(shown):
        return Source(shown.partition(":")[2], f"https://pypi.org/project/{found[1]}/{found[2]}/")
    return Source(shown, "")
