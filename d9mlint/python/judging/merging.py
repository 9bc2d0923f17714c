"""The findings of several entries, put together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from d9mlint.model import CONFIDENCES, NO_PROGRAM, Finding, InProgram, Location
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
    programs = reaching or {}
    merged = (_merged(group, programs.get(group[0].location.path, ()), bool(programs)) for group in groups.values())
    return sorted(merged, key=lambda x: x.sort_key)


def _merged(group: list[Finding], reaching: Collection[str], of_programs: bool) -> Finding:
    """The surest of several, with the other places of all; what only some of the equally sure need is said for them.

    (An entry that was not seen to call the place is less sure, and knows nothing of the conditions there.)
    """
    surest = max(CONFIDENCES.index(found.confidence) for found in group)
    sure = [found for found in group if CONFIDENCES.index(found.confidence) == surest]
    programs = tuple(one for found in sure for one in found.by_program)
    common = _common(programs)
    some = _of_some(programs, common)
    entries = tuple(sorted({entry for found in sure for entry in found.entries}))
    ops = tuple(dict.fromkeys(op for found in sure for op in found.ops))
    if entries and not set(entries).issuperset(reaching) and not all(found.uncalled for found in sure):
        some = [started(entries), *some]
    elif of_programs and not entries:
        some = [*some, f"a program imports `{group[0].location.path}` {NO_PROGRAM}"]
    told = {one.location for one in sure[0].related}
    more = {one.location: one for found in sure[1:] for one in found.related if one.location not in told}
    return sure[0]._replace(
        when=(*common, *some), entries=entries, ops=ops, programs=programs, slight=all(found.slight for found in sure),
        related=(*sure[0].related, *more.values()),
    )  # fmt: skip


def together(programs: Sequence[InProgram]) -> tuple[str, ...]:
    """The conditions that all of some programs need, and those that some do, each with the programs that need it."""
    common = _common(programs)
    return (*common, *_of_some(programs, common))


def _common(programs: Sequence[InProgram]) -> tuple[str, ...]:
    return tuple(words for words in programs[0].when if all(words in one.when for one in programs))


def _of_some(programs: Sequence[InProgram], common: Collection[str]) -> list[str]:
    """The conditions that not all programs need, each with those that do."""
    needs: dict[str, set[str]] = {}
    for one in programs:
        needs.setdefault(one.entry, set(one.when)).intersection_update(one.when)
    if len(needs) == 1:
        return []
    words: dict[str, list[str]] = {}
    for entry in sorted(needs):
        own = sorted(needs[entry].difference(common))
        if all(word.endswith(DEFAULT) for word in own):
            continue  # what holds anyhow explains nothing
        for word in own:
            words.setdefault(word, []).append(entry)
    groups: dict[tuple[str, ...], list[str]] = {}
    for word, those in words.items():
        groups.setdefault(tuple(those), []).append(word)
    ranked = sorted(groups, key=lambda those: (-len(those), those))
    told = [_if_started(those, " and ".join(groups[those]), needs) for those in ranked[:MAX_TOLD]]
    left = sorted({entry for those in ranked[MAX_TOLD:] for entry in those})
    return [*told, _if_started(left, "more", needs)] if left else told


def _if_started(those: Sequence[str], words: str, entries: Iterable[str]) -> str:
    others = [entry for entry in entries if entry not in those]
    return f"{words} unless {started(others)}" if 0 < len(others) < len(those) else f"if {started(those)}, {words}"


_STARTED = " is started"


def started(entries: Sequence[str]) -> str:
    """The condition that the program which runs is one of these entries, of which the first are named."""
    names = [f"`{entry}`" for entry in entries]
    left = len(names) - MAX_NAMED
    if left > 0:  # one more takes no more room than to say so
        return f"one of {', '.join(names[:MAX_NAMED])} and {names[-1] if left == 1 else f'{left} more'}{_STARTED}"
    return f"{' or '.join(names)}{_STARTED}"


def is_started(words: str) -> bool:
    """Whether a condition says which entries have the finding."""
    return words.endswith(_STARTED) and words.startswith(("`", "one of `"))
