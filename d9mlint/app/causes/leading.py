"""Which finding of a cause leads: the one that says most to those who run any of its programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from d9mlint.model import CONFIDENCES, SEVERITIES, Finding, Location
from d9mlint.report.summary import by_default

NO_SEED = re.compile(r"(-[\w-]*seed[\w-]*) is not given")
"""A condition under which a program has no seed, which says nothing of a place that draws."""
_ASIDE = frozenset({"example", "examples", "doc", "docs", "test", "tests", "tutorial", "tutorials", "demo", "demos"})
"""Folders with programs that show or test what the others are for."""
_Place = tuple[str, Location]
"""A rule and what it speaks of, in several findings where it says of it what differs with the program."""


class Rank(NamedTuple):
    """What decides, from first to last, which finding leads: the least of each."""

    severity: int
    confidence: int
    slight: bool
    aside: bool
    """It is in an example, a test or the like, while another program of the cause is none of these."""
    without_anyhow: int
    """Programs of the cause that do not have it in each run."""
    without_by_default: int
    """Programs that do not have it in a run without flags."""
    flags: int
    """Conditions that somebody has to meet in the program that needs fewest."""
    without: int
    """Programs that do not have it at all."""
    conditions: int
    """Of this finding; the others before it but ``slight`` are of all that is said of its place."""
    elsewhere: bool
    """It is not in a script of its programs."""
    depth: int
    """Folders that its file is in."""
    sort_key: object


def ranked(group: Sequence[Finding]) -> list[Finding]:
    """The findings of one cause, the one that leads first."""
    programs = {entry for found in group for entry in found.entries}
    places: dict[_Place, list[Finding]] = {}
    for found in group:
        places.setdefault((found.rule, found.location), []).append(found)
    needed = {place: _needed(those) for place, those in places.items()}
    of_own = not all(map(is_aside, programs or {found.location.path for found in group}))
    return sorted(group, key=lambda found: _rank(found, needed[found.rule, found.location], len(programs), of_own))


def is_aside(path: str) -> bool:
    """Whether a program stands in a folder of examples, tests or the like."""
    return not _ASIDE.isdisjoint(path.split("/")[:-1])


def grave(found: Finding) -> tuple[int, int]:
    """How grave and how sure a finding is; the least is the gravest."""
    return (-SEVERITIES.index(found.severity), -CONFIDENCES.index(found.confidence))


def is_of_default_run(found: Finding) -> bool:
    """Whether some program has a finding without any flag."""
    return any(all(map(by_default, one.when)) for one in found.by_program)


def _needed(findings: Iterable[Finding]) -> Mapping[str, list[str]]:
    """What each program needs to have any of some findings: the fewest conditions."""
    needed: dict[str, list[str]] = {}
    for found in findings:
        for one in found.by_program:
            own = [words for words in one.when if NO_SEED.match(words) is None]
            needed[one.entry] = min(own, needed.get(one.entry, own), key=asked)
    return needed


def asked(conditions: Sequence[str]) -> tuple[int, int]:
    """How many of some conditions somebody has to meet, and how many there are."""
    return sum(not by_default(words) for words in conditions), len(conditions)


def _rank(found: Finding, needed: Mapping[str, list[str]], programs: int, of_own: bool) -> Rank:
    counted = [asked(conditions) for conditions in needed.values()]
    return Rank(
        *grave(found),
        found.slight,
        aside=of_own and is_aside(found.location.path),
        without_anyhow=programs - sum(several == 0 for _, several in counted),
        without_by_default=programs - sum(flags == 0 for flags, _ in counted),
        flags=min(counted)[0],
        without=programs - len(counted),
        conditions=len(found.when),
        elsewhere=found.location.path not in found.entries,
        depth=found.location.path.count("/"),
        sort_key=found.sort_key,
    )
