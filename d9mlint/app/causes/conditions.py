"""When there is a cause: in each of its programs, under the conditions of any of its places there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from d9mlint.app.causes.groups import part
from d9mlint.app.causes.leading import asked, grave
from d9mlint.model import GENERATORS, AnyPlace, Finding, InProgram, Location
from d9mlint.python.judging.merging import is_started, started, together
from d9mlint.python.judging.wording import MAX_WORDS, shortened
from d9mlint.python.judging.wording.flagwords import DEFAULT
from d9mlint.report.summary import by_default

_Here = tuple[Finding, InProgram]
"""A finding of a cause, and what it is in one program."""
_Way = frozenset[str]
"""Conditions all of which have to be met."""
_OPPOSITES = ((" is true", " is false"), (" is given", " is not given"), (" is set", " is not set"))
_CLEAR = 2
"""Alternatives that still tell more than the one that holds by default."""


class InOne(NamedTuple):
    """What one program has of a cause."""

    program: InProgram
    """When it has it, where, and what of it."""
    parts: Mapping[str, tuple[str, ...]]
    """When it has each part of it."""


def by_programs(ranked: Sequence[Finding]) -> list[InOne]:
    """What each program has of a cause, those that come to its first place first."""
    return [_in_one(entry, here) for entry, here in _by_entry(ranked)]


def _in_one(entry: str, here: Sequence[_Here]) -> InOne:
    parts = _of_parts(here)
    concerns = tuple(sorted(filter(None, parts)))
    return InOne(InProgram(entry, _of_any([*parts.values()]), None, _reached(here), concerns), parts)


def of_cause(first: Finding, each: Sequence[InOne]) -> tuple[str, ...]:
    """The conditions of a cause, and which programs have it where others hold its ``first`` place, too.

    Those that come to the first place are named first, those in which it decides little are not where it decides more
    in others. Generators that are drawn from under different conditions have each its own, unless programs differ.
    """
    by_name = sorted(each, key=lambda one: one.program.entry)
    parts = by_name[0].parts
    if len(parts) > 1 and parts.keys() <= GENERATORS.keys() and all(one.parts == parts for one in each):
        when = _of_generators(parts)
    else:
        when = together([one.program for one in by_name])
    if not any(map(is_started, first.when)):
        return when
    return (*when, started([one.program.entry for one in each]))


def _by_entry(ranked: Sequence[Finding]) -> list[tuple[str, list[_Here]]]:
    """What each program has of a cause, those that come to its first place first; what decides little only alone.

    Not those that only hold code which nothing in them was seen to call, where others are seen to come there.
    """
    called = [found for found in ranked if not found.uncalled] or ranked
    told = called if ranked[0].slight else [found for found in called if not found.slight] or called
    places: dict[str, list[_Here]] = {}
    for found in told:
        for one in found.by_program:
            places.setdefault(one.entry, []).append((found, one))
    lead = ranked[0].rule, ranked[0].location
    leading = {entry for one in ranked if (one.rule, one.location) == lead for entry in one.entries}
    return sorted(places.items(), key=lambda item: (item[0] not in leading, item[0]))


def _reached(here: Iterable[_Here]) -> Location | None:
    """The line of a script by which it has a cause: that of the gravest of its places that needs fewest conditions.

    One of the script itself before those that it only leads to.
    """
    seen = [(found, one) for found, one in here if one.reached is not None]
    first = min(
        seen,
        key=lambda item: (grave(item[0]), item[0].location.path != item[1].entry, asked(item[1].when)),
        default=None,
    )
    return first[1].reached if first else None


def _of_parts(here: Sequence[_Here]) -> dict[str, tuple[str, ...]]:
    """When a program has each part of a cause: what the gravest and surest of its findings say."""
    gravest = min(grave(found) for found, _ in here)
    parts: dict[str, list[InProgram]] = {}
    for found, one in here:
        if grave(found) == gravest:
            parts.setdefault(part(found), []).append(one)
    return {name: _of_any([one.when for one in those], those[0].any_place) for name, those in parts.items()}


def _of_any(ways: Sequence[tuple[str, ...]], whole: AnyPlace | None = None) -> tuple[str, ...]:
    """The conditions of the first of several ways, then those of the others: a cause is there whichever are met.

    ``whole`` tells them all at once, as long as none of its places was suppressed.
    """
    own, each = ways[0], _fewest(map(frozenset, ways))
    common = frozenset.intersection(*each)
    kept = tuple(words for words in own if words in common)
    if len(each) == 1:
        return kept
    apart = {" and ".join(sorted(one - common)) for one in each}
    one_by_one = " and ".join((*kept, " or ".join(apart)))
    if whole is not None and whole.places == len(ways) and len(" and ".join(whole.when)) < len(one_by_one):
        return whole.when
    default = all(map(by_default, own))
    if default and (len(apart) > _CLEAR or len(one_by_one) > MAX_WORDS):
        return own  # a default run has it: many other ways to it explain nothing
    told = shortened(apart, first="" if default else " and ".join(sorted(set(own) - common)))
    return (*kept, told) if told else kept


def _fewest(ways: Iterable[_Way]) -> list[_Way]:
    """The same alternatives in fewer words.

    Two that differ in a test and its opposite are one; what asks for more than another is none.
    """
    found = set(ways)
    while pair := next(_opposite_ways(found), None):
        found = {*found.difference(pair), pair[0] & pair[1]}
    return [one for one in found if not any(other < one for other in found)]


def _opposite_ways(found: Collection[_Way]) -> Iterator[tuple[_Way, _Way]]:
    """Two ways that differ in one test, of which one asks for the opposite of the other."""
    for one in sorted(found, key=sorted):
        for words in sorted(one):
            others = (one - {words} | {turned} for turned in _opposite(words))
            yield from ((one, other) for other in others if other in found)


def _opposite(words: str) -> Iterator[str]:
    """How the opposite of a test may be said."""
    bare = words.removesuffix(DEFAULT)
    for yes, no in (*_OPPOSITES, *(pair[::-1] for pair in _OPPOSITES)):
        if bare.endswith(yes):
            turned = bare.removesuffix(yes) + no
            yield from (turned, turned + DEFAULT)


def _of_generators(each: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The conditions of the first generator, and of others that are drawn from without them."""
    own = next(iter(each.values()))
    more = [name for name, when in each.items() if not set(own) <= set(when)]
    if not more:
        return own  # what draws under more than that is one of the places
    told = {name: when for name, when in each.items() if when is own or name in more}
    common = [words for words in own if all(words in when for when in told.values())]
    rest = {name: [words for words in when if words not in common] for name, when in told.items()}
    return (*common, *(f"for {GENERATORS[name]}, {' and '.join(words)}" for name, words in rest.items() if words))
