"""Findings by cause: those of one program that one cure removes are told as one, at the place that says most.

What a user cures at once is one finding: a program that seeds nothing, whatever draws in it; a switch for deterministic
ops that is missing, whatever varies. Which programs share a cause is told in ``groups``, which finding leads in
``leading``, under which conditions the cause is there in ``conditions``, what to do about it in ``remedies``. The other
findings become places of the one that leads, each with what it says, those in scripts first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from d9mlint.app.besides import CONFIG_FILES
from d9mlint.app.causes import remedies
from d9mlint.app.causes.conditions import by_programs, of_cause
from d9mlint.app.causes.groups import OF_PROGRAM, grouped, part, slug
from d9mlint.app.causes.leading import is_aside, is_of_default_run, ranked
from d9mlint.model import GENERATORS, Finding, Location, Related

ALSO = " (the same goes for "
"""In the message of a cause, before the other generators that it is about."""


def by_cause(findings: Iterable[Finding], sources: Mapping[str, str] = MappingProxyType({})) -> list[Finding]:
    """The findings, sorted, those of one cause put together; ``cause`` then names each cause of the report.

    Programs that share a place of a cause share the cause: it is one finding with all these entries. So do copies of a
    program, as far as ``sources`` tells them.
    """
    return sorted((_together(group) for group in grouped(findings, sources)), key=lambda found: found.sort_key)


def _together(group: list[Finding]) -> Finding:
    """One finding out of several of one cause."""
    first, *others = all_of_it = ranked(group)
    each = by_programs(all_of_it) if others or first.entries else []
    found = first._replace(
        cause=f"{slug(first) or first.rule}-{first.fingerprint}",
        concerns=tuple(sorted({name for one in group if (name := part(one))})),
        remedy=remedies.of_cause(all_of_it),
        programs=tuple(one.program for one in each) if first.entries else (),
    )
    elsewhere = bool(found.programs) and first.location.path not in found.entries
    found = found._replace(apart=slug(first) in OF_PROGRAM and (len(found.programs) > 1 or elsewhere))
    if not others:
        return found
    return found._replace(
        message=_message(first, group, found.concerns),
        when=of_cause(first, each),
        related=tuple(_places(first, others)),
        fixes=tuple(dict.fromkeys(fix for one in all_of_it for fix in one.fixes)),
        entries=tuple(sorted({entry for one in group for entry in one.entries})),
        ops=tuple(dict.fromkeys(op for one in all_of_it for op in one.ops)),
        calls=tuple(dict.fromkeys(call for one in all_of_it for call in one.calls)),
    )


def _of_most(first: Finding, group: Iterable[Finding]) -> Finding:
    """What is said of the place in most programs: one may open another file there than all others.

    Not what only some ask for, where most have it anyhow. Where each has its own half of it (what comes before the
    seed), what is said of a script.
    """
    here = [one for one in group if (one.rule, one.location) == (first.rule, first.location)]
    anyhow = [one for one in here if is_of_default_run(one)]
    said: Counter[str] = Counter()
    told: dict[str, Finding] = {}
    halves: set[str] = set()
    for one in anyhow if 2 * _programs(anyhow) > _programs(here) else here:
        said[one.message] += len(one.entries)
        told.setdefault(one.message, one)
        if one.related and one.related[0].location.path in one.entries:
            halves.add(one.message)
    if not said:
        return first
    texts = halves if 2 * len(halves) > len(said) else said
    most = max(texts, key=lambda text: (said[text], text == first.message, text))
    return told[most]


def _programs(findings: Iterable[Finding]) -> int:
    return len({entry for one in findings for entry in one.entries})


def _message(first: Finding, group: Sequence[Finding], concerns: Sequence[str]) -> str:
    """What is said of the first place, and which other generators lack a seed, too."""
    told = _of_most(first, group)
    own = part(told)
    named = (GENERATORS[name] for name in concerns if name != own and name in GENERATORS)
    others = [name for name in named if name not in told.message]  # one that is seeded elsewhere may stand there
    return f"{told.message}{ALSO}{' and '.join(others)})" if own and others else told.message + _in_more_files(group)


def _in_more_files(group: Iterable[Finding]) -> str:
    """How many other config files have the same."""
    left = len({one.location.path for one in group if one.location.path.endswith(CONFIG_FILES)}) - 1
    return f" (and in {left} more {'file' if left == 1 else 'files'})" if left > 0 else ""


def _places(first: Finding, others: Iterable[Finding]) -> list[Related]:
    """The other findings as places of the first, and what belongs to any of them; each place once, scripts first."""
    told = [Related(found.location, _note(found, first), found.rule) for found in others]
    more = (related for found in (first, *others) for related in found.related)
    places: dict[Location, Related] = {}
    for related in (*told, *more):
        if related.location != first.location:
            places.setdefault(related.location, related)
    scripts = {entry for found in (first, *others) for entry in found.entries}
    return sorted(
        places.values(), key=lambda place: (place.location.path not in scripts, is_aside(place.location.path))
    )


def _note(found: Finding, first: Finding) -> str:
    """What a finding says, and when, as far as that is not said already."""
    when = [words for words in found.when if words not in first.when]
    return found.message + (f" (when {' and '.join(when)})" if when else "")
