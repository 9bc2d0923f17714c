"""The findings of several entries, put together."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from d9mlint.model import CONFIDENCES, Finding, Location
from d9mlint.python.judging.wording.flagwords import DEFAULT

MAX_NAMED = 2
"""Entries that a condition names; the finding lists all of them anyway."""
MAX_TOLD = 3
"""Groups of entries whose own conditions are told; of others, that they have some."""


def combine(findings: Iterable[Finding], reaching: Mapping[str, Collection[str]] | None = None) -> list[Finding]:
    """Merges the findings of several entries: one per place and text, with all its entries, sorted.

    ``reaching`` are the entries whose programs hold each file. Where a finding is that of some of them only, its
    conditions say of which.
    """
    groups: dict[tuple[str, Location, str], list[Finding]] = {}
    for found in findings:
        groups.setdefault((found.rule, found.location, found.message), []).append(found)
    merged = (_merged(group, (reaching or {}).get(group[0].location.path, ())) for group in groups.values())
    return sorted(merged, key=lambda x: x.sort_key)


def _merged(group: list[Finding], reaching: Collection[str]) -> Finding:
    """The surest of several, with the other places of all; what only some of the equally sure need is said for them.

    (An entry that was not seen to call the place is less sure, and knows nothing of the conditions there.)
    """
    surest = max(CONFIDENCES.index(found.confidence) for found in group)
    sure = [found for found in group if CONFIDENCES.index(found.confidence) == surest]
    when = _common(sure)
    entries = tuple(sorted({entry for found in sure for entry in found.entries}))
    ops = tuple(dict.fromkeys(op for found in sure for op in found.ops))
    if entries and not set(entries).issuperset(reaching) and not all(found.uncalled for found in sure):
        when = (*when, started(entries))
    whole = sure[0].any_place if len({found.any_place for found in sure}) == 1 else None
    told = {one.location for one in sure[0].related}
    more = {one.location: one for found in sure[1:] for one in found.related if one.location not in told}
    return sure[0]._replace(
        when=(*when, *_of_some(sure, when)), entries=entries, ops=ops, any_place=whole,
        related=(*sure[0].related, *more.values()),
    )  # fmt: skip


def conditions(sure: list[Finding]) -> tuple[str, ...]:
    """The conditions that all of some findings of one place need, and those that some entries do."""
    when = _common(sure)
    return (*when, *_of_some(sure, when))


def _common(sure: list[Finding]) -> tuple[str, ...]:
    return tuple(word for word in sure[0].when if all(word in found.when for found in sure))


def _of_some(sure: list[Finding], common: Collection[str]) -> list[str]:
    """The conditions that not all entries need, each with those that do."""
    if len(sure) == 1 or not all(found.entries for found in sure):
        return []
    needs: dict[str, set[str]] = {}
    for found in sure:
        for entry in found.entries:
            own = set(_needed(found.when, entry))
            needs.setdefault(entry, own).intersection_update(own)
    words: dict[str, list[str]] = {}
    for entry in sorted(needs):
        for word in sorted(needs[entry].difference(common)):
            if not word.endswith(DEFAULT):  # what holds anyhow in some of them explains nothing
                words.setdefault(word, []).append(entry)
    told = [word for word in words if _OF_SOME.fullmatch(word)]  # (names its own programs, though not all of them)
    groups: dict[tuple[str, ...], list[str]] = {}
    for word, those in words.items():
        if word not in told:
            groups.setdefault(tuple(those), []).append(word)
    ranked = sorted(groups, key=lambda those: (-len(those), those))
    told += [_if_started(those, " and ".join(groups[those]), needs) for those in ranked[:MAX_TOLD]]
    left = sorted({entry for those in ranked[MAX_TOLD:] for entry in those})
    return [*told, _if_started(left, "more", needs)] if left else told


def _needed(when: Iterable[str], entry: str) -> Iterator[str]:
    """The conditions that an entry needs, of such as were put together of several; without naming it again."""
    for word in when:
        found = _OF_SOME.fullmatch(word)
        names = _NAME.findall(found["programs"]) if found is not None else []
        if found is None or found["programs"].startswith("one of "):
            yield word
        elif (entry in names) is (found["words"] is not None):
            yield from (found["words"] or found["unless"]).split(" and ")


_OF_SOME = re.compile(
    r"(?:if |(?P<unless>.+) unless )(?P<programs>(?:one of )?`[^`]+`.*?) is started(?:, (?P<words>.+))?"
)
_NAME = re.compile(r"`([^`]+)`")


def _if_started(those: Collection[str], words: str, entries: Collection[str]) -> str:
    others = [entry for entry in entries if entry not in those]
    return f"{words} unless {started(others)}" if 0 < len(others) < len(those) else f"if {started(those)}, {words}"


_STARTED = " is started"


def started(entries: Collection[str]) -> str:
    """The condition that the program which runs is one of these entries."""
    names = [f"`{entry}`" for entry in sorted(entries)]
    left = len(names) - MAX_NAMED
    if left > 0:  # one more takes no more room than to say so
        return f"one of {', '.join(names[:MAX_NAMED])} and {names[-1] if left == 1 else f'{left} more'}{_STARTED}"
    return f"{' or '.join(names)}{_STARTED}"


def is_started(words: str) -> bool:
    """Whether a condition says which entries have the finding."""
    return words.endswith(_STARTED) and words.startswith(("`", "one of `"))


def is_of_some(words: str) -> bool:
    """Whether a condition is one that some of the programs need, and others do not."""
    return _OF_SOME.fullmatch(words) is not None
