"""Findings by cause: those of one program that one cure removes are told as one, at the place that says most.

What a user cures at once is one finding: a program that seeds nothing, whatever draws in it; a switch for deterministic
ops that is missing, whatever varies. Of several findings the gravest and surest leads, then one without a flag, then
one that holds in most programs and under the fewest conditions; the others become places of it, each with what it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from d9mlint.model import CONFIDENCES, GENERATORS, SEVERITIES, Finding, Location, Related
from d9mlint.python.judging.merging import is_started, started
from d9mlint.report.summary import by_default

_Key = tuple[str, str | Location]
_CODE = re.compile(r"`[^`]+`")
_PART = "/"
"""In a cause, before what of it is concerned: what one remedy is for."""
ALSO = " (the same goes for "
"""In the message of a cause, before the other generators that it is about."""


def by_cause(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, sorted, those of one cause put together; ``cause`` then names each cause of the report.

    Programs that share a place of a cause share the cause: it is one finding with all these entries.
    """
    told, causes = list(findings), _Causes()
    for found in told:
        causes.join(_keys(found))
    groups: dict[_Key, list[Finding]] = {}
    for found in told:
        groups.setdefault(causes.first(_keys(found)[0]), []).append(found)
    return sorted((_together(group) for group in groups.values()), key=lambda found: found.sort_key)


def _keys(found: Finding) -> list[_Key]:
    """What a finding has in common with all others of its cause: rule and place, or the cause in its programs.

    A finding that depends on no program is that of its file.
    """
    programs = found.entries or (found.location.path,)
    return [(found.rule, found.location), *((slug(found), _program(entry)) for entry in programs if found.cause)]


def _program(entry: str) -> str:
    """What a notebook and the script made out of it have in common: their name."""
    return entry.removesuffix(".py").removesuffix(".ipynb")


class _Causes:
    """Disjoint sets of keys: findings that have one in common are of one cause."""

    def __init__(self) -> None:
        self._parents: dict[_Key, _Key] = {}

    def join(self, keys: Sequence[_Key]) -> None:
        """What has any of these keys is of one cause."""
        for other in keys[1:]:
            self._parents[self.first(other)] = self.first(keys[0])

    def first(self, key: _Key) -> _Key:
        """Equal for all keys of one cause."""
        while (parent := self._parents.get(key, key)) != key:
            key = parent
        return key


def slug(found: Finding) -> str:
    """The cause without what of it is concerned."""
    return found.cause.partition(_PART)[0]


def _together(group: list[Finding]) -> Finding:
    """One finding out of several of one cause."""
    first, *others = sorted(group, key=_rank)
    named = f"{slug(first) or first.rule}-{first.fingerprint}"
    concerns = tuple(sorted({part for found in group if (part := found.cause.partition(_PART)[2])}))
    if not others:
        return first._replace(cause=named, concerns=concerns)
    entries = tuple(sorted({entry for found in group for entry in found.entries}))
    return first._replace(
        cause=named,
        concerns=concerns,
        message=_message(first, concerns),
        when=_when(first, group, entries),
        remedy="\n\n".join(_remedies([first, *others])),
        related=tuple(_places(first, others)),
        fixes=tuple(dict.fromkeys(fix for found in (first, *others) for fix in found.fixes)),
        entries=entries,
        ops=tuple(dict.fromkeys(op for found in (first, *others) for op in found.ops)),
        calls=tuple(dict.fromkeys(call for found in (first, *others) for call in found.calls)),
    )


def _message(first: Finding, concerns: Sequence[str]) -> str:
    """What the first finding says, and which other generators lack a seed, too."""
    own = first.cause.partition(_PART)[2]
    named = (GENERATORS[name] for name in concerns if name != own and name in GENERATORS)
    others = [name for name in named if name not in first.message]  # one that is seeded elsewhere may stand there
    return f"{first.message}{ALSO}{' and '.join(others)})" if own and others else first.message


def _rank(found: Finding) -> tuple[object, ...]:
    """The order in which findings of one cause lead."""
    grave = (-SEVERITIES.index(found.severity), -CONFIDENCES.index(found.confidence))
    asked = sum(not (is_started(words) or by_default(words)) for words in found.when)
    return (*grave, bool(asked), -len(found.entries), len(found.when), found.sort_key)


def _when(first: Finding, group: Iterable[Finding], entries: Sequence[str]) -> tuple[str, ...]:
    """The conditions of the first; which programs have it, where each of the others says that of some only, too."""
    own = tuple(words for words in first.when if not is_started(words))
    everywhere = not all(any(map(is_started, found.when)) for found in group)
    return own if everywhere else (*own, started(entries))


def _remedies(group: Iterable[Finding]) -> list[str]:
    """What to do about each part of the cause, in the order of the findings; what a call does that is told is not."""
    parts: dict[str, str] = {}
    for found in group:
        call = _CODE.search(found.remedy)
        if not call or not any(call[0] in told for told in parts.values()):
            parts.setdefault(found.cause, found.remedy)
    return list(dict.fromkeys(filter(None, parts.values())))


def _places(first: Finding, others: Iterable[Finding]) -> list[Related]:
    """The other findings as places of the first, and what belongs to any of them; each place once."""
    told = [Related(found.location, _note(found, first), found.rule) for found in others]
    more = (related for found in (first, *others) for related in found.related)
    places: dict[Location, Related] = {}
    for related in (*told, *more):
        if related.location != first.location:
            places.setdefault(related.location, related)
    return list(places.values())


def _note(found: Finding, first: Finding) -> str:
    """What a finding says, and when, as far as that is not said already."""
    when = [words for words in found.when if words not in first.when]
    return found.message + (f" (when {' and '.join(when)})" if when else "")
