"""The programs on the page of a check: each with its determinism plan, and what was not seen of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from d9mlint.model import PlanRow, Report, Unfollowed
from d9mlint.report import summary
from d9mlint.report.check.rows import Row
from d9mlint.report.lines import cell, place
from d9mlint.report.targets import describe
from d9mlint.report.words import count, joined, one_line, printable

_SECTIONS = {
    "generators": "where random numbers come from, and who seeds them",
    "switches": "settings that make the frameworks deterministic, or not",
    "data": "the order in which files and examples come",
}
_COUNTED = {"Generators": ("generator", "generators"), "Switches": ("switch", "switches")}


class Told(NamedTuple):
    """A line of a plan."""

    text: str
    place: str
    when: str


class Section(NamedTuple):
    """A part of a plan: by subject, what is told of it."""

    name: str
    about: str
    subjects: tuple[tuple[str, tuple[Told, ...]], ...]


class Call(NamedTuple):
    """A call that could not be followed, in as many programs."""

    key: str
    place: str
    call: str
    reason: str
    programs: int


class Program(NamedTuple):
    """An entry as the page shows it."""

    key: str
    path: str
    outline: str
    found: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    rows: tuple[Row, ...]
    """Its findings."""
    calls: tuple[Call, ...]
    uncalled: tuple[tuple[str, int], ...]
    """By file, how many functions are not seen to be called."""
    idle: bool
    """Whether it holds nothing that a rule is about."""


def calls(report: Report) -> Mapping[Unfollowed, Call]:
    """The calls that could not be followed, of all programs, by place."""
    found = Counter(call for one in report.coverage.values() for call in one.unfollowed)
    return {
        call: Call(
            f"call-{number}", f"{place(call.location)}{cell(call.location)}",
            "" if call.call == "?" else one_line(call.call), one_line(call.reason), found[call],
        )
        for number, call in enumerate(sorted(found), 1)
    }  # fmt: skip


def program(entry: str, report: Report, key: str, rows: Sequence[Row], followed: Mapping[Unfollowed, Call]) -> Program:
    """What the page shows of ``entry``, which has the findings ``rows``; ``followed`` are the calls that were not."""
    one = report.coverage.get(entry)
    sections = _sections(report.plans.get(entry, ()))
    return Program(
        key=key, path=printable(entry), outline=_outline(sections), found=count(len(rows), "finding"),
        facts=tuple((name, value) for name, value in _facts(entry, report) if value),
        sections=sections, rows=tuple(rows), calls=tuple(followed[call] for call in one.unfollowed) if one else (),
        uncalled=tuple((printable(path), number) for path, number in one.uncalled.items() if number) if one else (),
        idle=one is not None and not one.interpreted and not rows and not sections,
    )  # fmt: skip


def _facts(entry: str, report: Report) -> list[tuple[str, str]]:
    one = report.coverage.get(entry)
    return [
        ("judged for", one_line(describe(report.targets[entry])) if entry in report.targets else ""),
        ("started by", "; ".join(map(summary.launched, report.launches.get(entry, ())))),
        ("coverage", summary.coverage_of(one) if one else ""),
        ("self-test", f"keeps {summary.TRIED}" if one and not one.kept else ""),
        ("not checked", "; ".join(one_line(lost.reason) for lost in report.unchecked if lost.path == entry)),
    ]


def _sections(rows: Sequence[PlanRow]) -> tuple[Section, ...]:
    return tuple(
        Section(
            name.capitalize(),
            _SECTIONS.get(name, ""),
            tuple((one_line(subject), tuple(map(_told, told))) for subject, told in groupby(part, lambda x: x.subject)),
        )
        for name, part in groupby(rows, lambda x: x.section)
    )


def _told(row: PlanRow) -> Told:
    where = f"{place(row.location)}{cell(row.location)}" if row.location is not None else ""
    return Told(one_line(row.text), where, joined(map(one_line, row.when)))


def _outline(sections: Sequence[Section]) -> str:
    """How much there is to read."""
    parts = ((len(one.subjects), *_COUNTED[one.name]) for one in sections if one.name in _COUNTED)
    return ", ".join(f"{number} {singular if number == 1 else plural}" for number, singular, plural in parts)
