"""Findings by cause: those of one program that one cure removes are told as one, at the place that says most.

What a user cures at once is one finding: a program that seeds nothing, whatever draws in it; a switch for deterministic
ops that is missing, whatever varies. Of several findings the gravest and surest leads, then one that some program has
without a flag, then one that needs the fewest flags, that holds in most programs, in a script of theirs and under the
fewest conditions; the others become places of it, each with what it says, those in the scripts first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from d9mlint.app.besides import CONFIG_FILES
from d9mlint.model import CONFIDENCES, GENERATORS, OWN_GRAPH, RESET_GRAPH, SEVERITIES, Finding, Location, Related
from d9mlint.python.judging.merging import conditions, is_of_some, is_started, started
from d9mlint.python.judging.processes import PLACED, RANKS
from d9mlint.python.judging.wording import shortened
from d9mlint.report.summary import by_default

_Key = tuple[str, str | Location]
_CODE = re.compile(r"`[^`]+`")
_PART = "/"
"""In a cause, before what of it is concerned: what one remedy is for."""
_OR_ELSE = re.compile(r", or pass a (seeded )?generator:")
"""In a remedy, before what cures one draw and no other."""
_EITHER = re.compile(r"^[^;]*, or [^;]*$")
"""A remedy that is one thing or another."""
_FLAG_GIVEN = "pass it on: "
"""How the remedy for a flag begins whose value nothing takes."""
_NO_SEED = re.compile(r"(-[\w-]*seed[\w-]*) is not given")
_ALL = 2
"""Of a finding that no program has by itself."""
_MOST_GRAPHS = 3
"""Places where graphs begin that a remedy names."""
_CLEAR = 2
"""Alternatives that still tell more than the one that holds by default."""
ALSO = " (the same goes for "
"""In the message of a cause, before the other generators that it is about."""


def by_cause(findings: Iterable[Finding], sources: Mapping[str, str] = MappingProxyType({})) -> list[Finding]:
    """The findings, sorted, those of one cause put together; ``cause`` then names each cause of the report.

    Programs that share a place of a cause share the cause: it is one finding with all these entries. So do copies of a
    program, as far as ``sources`` tells them.
    """
    told, causes, programs = list(findings), _Causes(), _Programs(sources)
    each = dict(zip(told, _numbers(told), strict=True))
    for found in told:
        causes.join(_keys(found, programs, each[found]))
    groups: dict[_Key, list[Finding]] = {}
    for found in told:
        groups.setdefault(causes.first(_keys(found, programs, each[found])[0]), []).append(found)
    return sorted((_together(group) for group in groups.values()), key=lambda found: found.sort_key)


def _keys(found: Finding, programs: _Programs, number: int) -> list[_Key]:
    """What a finding has in common with all others of its cause: rule and place, or the cause in its programs.

    A finding that depends on no program is that of its file; one without a cause is that of its place in all copies,
    or of all config files of a folder that have the same setting.
    """
    if not found.cause:
        if found.location.path.endswith(CONFIG_FILES):
            same = f"{found.rule}: {found.severity}, {found.message}, {number}"
            return [(found.rule, found.location), (same, found.location.path.rpartition("/")[0])]
        there = f"{found.rule}: {found.message} at {found.location.column}, {number}"
        return [(found.rule, found.location), (there, programs.named(found.location.path))]
    entries = found.entries or (found.location.path,)
    return [(found.rule, found.location), *((slug(found), programs.named(entry)) for entry in entries)]


def _numbers(findings: Sequence[Finding]) -> list[int]:
    """The number of each finding among those of its file that say the same at the same column."""
    seen: Counter[tuple[str, str, str, int]] = Counter()
    numbers: dict[Finding, int] = {}
    for found in sorted(findings, key=lambda one: one.sort_key):
        key = (found.location.path, found.rule, found.message, found.location.column)
        numbers[found] = seen[key]
        seen[key] += 1
    return [numbers[found] for found in findings]


class _Programs:
    """Names of programs that are equal for copies: a notebook and the script made of it, files with the same code."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._first: dict[tuple[str, str], str] = {}

    @cache  # noqa: B019 - (lives as long as one report is made)
    def named(self, entry: str) -> str:
        """The name of a program, without ending; of copies of one name in several folders that of the first."""
        name = entry.removesuffix(".py").removesuffix(".ipynb")
        code = [line for line in map(str.strip, self._sources.get(entry, "").splitlines()) if line[:1] not in ("", "#")]
        return self._first.setdefault((name.rpartition("/")[2], "\n".join(code)), name) if code else name


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
    reached = _reached(group)
    first, *others = sorted(group, key=lambda one: _rank(one, reached))
    named = f"{slug(first) or first.rule}-{first.fingerprint}"
    concerns = tuple(sorted({part for found in group if (part := found.cause.partition(_PART)[2])}))
    graphs = _graphs(group, first)
    if not others:
        remedy = _flag_first(group, _seeds_first(first, [first.remedy], concerns, graphs))
        return first._replace(cause=named, concerns=concerns, remedy=remedy)
    entries = tuple(sorted({entry for found in group for entry in found.entries}))
    other_rules = {one.rule for one in others} - {first.rule}
    remedy = _seeds_first(first, _remedies([first, *others]), concerns, graphs, other_rules)
    return first._replace(
        cause=named,
        concerns=concerns,
        message=_message(first, group, concerns),
        when=_when(first, [first, *others], entries),
        remedy=_flag_first(group, remedy),
        related=tuple(_places(first, others)),
        fixes=tuple(dict.fromkeys(fix for found in (first, *others) for fix in found.fixes)),
        entries=entries,
        ops=tuple(dict.fromkeys(op for found in (first, *others) for op in found.ops)),
        calls=tuple(dict.fromkeys(call for found in (first, *others) for call in found.calls)),
    )


def _of_most(first: Finding, group: Iterable[Finding]) -> Finding:
    """What is said of the place in most programs: one may open another file there than all others.

    Not what only some ask for, where most have it anyhow. Where each has its own half of it (what comes before the
    seed), what is said of a script.
    """
    here = [one for one in group if (one.rule, one.location) == (first.rule, first.location)]
    anyhow = [one for one in here if _asked(one) < _ALL]
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
    own = told.cause.partition(_PART)[2]
    named = (GENERATORS[name] for name in concerns if name != own and name in GENERATORS)
    others = [name for name in named if name not in told.message]  # one that is seeded elsewhere may stand there
    return f"{told.message}{ALSO}{' and '.join(others)})" if own and others else told.message + _in_more_files(group)


def _in_more_files(group: Iterable[Finding]) -> str:
    """How many other config files have the same."""
    left = len({one.location.path for one in group if one.location.path.endswith(CONFIG_FILES)}) - 1
    return f" (and in {left} more {'file' if left == 1 else 'files'} of this folder)" if left > 0 else ""


def _reached(group: Iterable[Finding]) -> dict[tuple[str, Location], int]:
    """For each rule and place the number of programs that have it."""
    entries: dict[tuple[str, Location], set[str]] = {}
    for found in group:
        entries.setdefault((found.rule, found.location), set()).update(found.entries)
    return {key: len(programs) for key, programs in entries.items()}


def _grave(found: Finding) -> tuple[int, int]:
    return (-SEVERITIES.index(found.severity), -CONFIDENCES.index(found.confidence))


def _rank(found: Finding, reached: Mapping[tuple[str, Location], int]) -> tuple[object, ...]:
    """The order in which findings of one cause lead."""
    programs, asked = reached[found.rule, found.location], _asked(found)
    elsewhere = found.location.path not in found.entries
    few = (-programs, asked, -len(found.entries))
    needed = len([w for w in found.when if not (is_started(w) or by_default(w))]) if asked == _ALL else 0
    return (
        *_grave(found),
        asked == _ALL,
        needed,
        any(map(_is_default_of_a_place, found.when)),
        *few,
        elsewhere,
        len(found.when),
        found.location.path.count("/"),
        found.sort_key,
    )


def _is_default_of_a_place(words: str) -> bool:
    """Whether a place is only there under a condition, which holds by default; that no seed is given is none of it."""
    return by_default(words) and not is_started(words) and _NO_SEED.search(words) is None


def _asked(found: Finding) -> int:
    """Whether somebody has to ask for something to have a finding: 0 in none of its programs, 1 in some, 2 in all."""
    asked = [words for words in found.when if not (is_started(words) or by_default(words))]
    return 0 if not asked else 1 if all(map(is_of_some, asked)) else _ALL


def _when(first: Finding, group: Sequence[Finding], entries: Sequence[str]) -> tuple[str, ...]:
    """The conditions of a cause; of generators that draw under different ones, those of each."""
    parts: dict[str, list[Finding]] = {}
    for one in group:
        parts.setdefault(one.cause.partition(_PART)[2], []).append(one)
    if len(parts) == 1 or not parts.keys() <= GENERATORS.keys() or any(_of_programs(one, first) for one in group):
        return _of_places(first, group, entries)
    each = {name: _of_places(those[0], those, entries) for name, those in parts.items()}
    own = next(iter(each.values()))
    more = [name for name, when in each.items() if not set(own) <= set(when)]
    if not more:
        return own  # what draws under more than that is one of the places
    told = {name: when for name, when in each.items() if when is own or name in more}
    common = [words for words in own if all(words in when for when in told.values())]
    rest = {name: [words for words in when if words not in common] for name, when in told.items()}
    return (*common, *(f"for {GENERATORS[name]}, {' and '.join(words)}" for name, words in rest.items() if words))


def _of_programs(found: Finding, first: Finding) -> bool:
    """Whether a finding is that of other programs than another, or its conditions are those of some of them."""
    return found.entries != first.entries or any(is_started(words) or is_of_some(words) for words in found.when)


def _of_places(first: Finding, group: Iterable[Finding], entries: Sequence[str]) -> tuple[str, ...]:
    """The conditions of the first, and which programs have it, where not all have that reach its place.

    Those that say the same rule of the same place, in other words, do so for other programs: each under its conditions.
    """
    same = [first, *(one for one in group if _elsewhere(one, first))]
    own = conditions([one._replace(when=tuple(w for w in one.when if not is_started(w))) for one in same])
    own = own if len(same) > 1 else _under_any(first, own, group)
    return (*own, started(entries)) if any(map(is_started, first.when)) else own


def _under_any(first: Finding, own: tuple[str, ...], group: Iterable[Finding]) -> tuple[str, ...]:
    """The conditions of the first place, then those of others in the same programs that are as grave and as sure.

    To each of them somebody has to set a flag: a cause is there whichever is set.
    """
    alike = [one for one in group if _grave(one) == _grave(first) and one.entries == first.entries]
    each = [frozenset(words for words in one.when if not is_started(words)) for one in alike]
    common = frozenset.intersection(*each)
    apart = {" and ".join(sorted(one - common)) for one in each}
    kept = tuple(words for words in own if words in common)
    if first.any_place is not None and len(apart) > 1 and first.any_place.places == len(alike):
        told = first.any_place.when
        if len(" and ".join(told)) < len(" and ".join((*kept, shortened(apart)))):
            return told
    if len(apart) == 1 or (len(apart) > _CLEAR and "" not in apart and _asked(first._replace(when=own)) < _ALL):
        return own  # a default run has it: many other ways to it explain nothing
    leads = "" if all(map(by_default, own)) else " and ".join(sorted(set(own) - common))
    return kept if "" in apart else (*kept, shortened(apart, first=leads))


def _elsewhere(found: Finding, first: Finding) -> bool:
    """Whether a finding is that of another at the same place, just as sure, in programs that do not have that one."""
    alike = (found.rule, found.location, found.confidence) == (first.rule, first.location, first.confidence)
    return alike and bool(found.entries) and not set(found.entries) & set(first.entries)


def _remedies(group: Iterable[Finding]) -> list[str]:
    """What to do about each part of the cause, in the order of the findings; what a call does that is told is not."""
    parts: dict[str, str] = {}
    for found in group:
        call = _CODE.search(found.remedy)
        if not call or not any(call[0] in told for told in parts.values()):
            parts.setdefault(found.cause, found.remedy)
    return list(dict.fromkeys(filter(None, parts.values())))


def _seeds_first(
    first: Finding, remedies: Sequence[str], concerns: Sequence[str], graphs: str, others: Collection[str] = ()
) -> str:  # fmt: skip
    """What to do about a cause; where seeds are missing and more is said than these, first which ones are.

    The remedy of one draw may name seeds of generators that this program does not draw from, or cure that draw only:
    ``others`` are rules that other draws of the cause are found by. ``graphs`` says where TensorFlow's seed goes.
    """
    from d9mlint.fix.remedies import code
    from d9mlint.fix.statements import block, seeds

    told = "\n\n".join(remedies)
    if slug(first) != "unseeded" or PLACED in told:
        return told
    missing = block(told, concerns)
    same = len(remedies) == 1 and missing is not None and len(seeds(told)) == len(missing.statements)
    if missing is None or (same and not (others and _OR_ELSE.search(told))):
        return f"{told}; TensorFlow's seed is one of the graph: set it {graphs}" if graphs else told
    lead = _seeds(missing.statements, graphs, len(first.entries) > 1)
    lead += RANKS if RANKS in told else ""
    left = [one for one in remedies if not seeds(one) or any("=" in part for part in code(one))]
    left = [one for one in left if not (seeds(one) and _EITHER.search(one) and {*seeds(one)} <= {*missing.statements})]
    passed = {part.partition("(")[0] for part in code(first.remedy) if first.remedy.startswith(_FLAG_GIVEN)}
    told_by_flag = all(one.partition("(")[0] in passed for one in missing.statements)
    return lead if same else "\n\n".join([*([] if told_by_flag else [lead]), *left])


def _seeds(statements: Sequence[str], graphs: str, several: bool) -> str:
    """Which seeds to set, and where; ``several``: programs."""
    named = [f"`{one}`" for one in statements]
    graph = next((name for name in named if ".set_random_seed(" in name and "keras" not in name), "")
    if graphs and graph:
        rest = [one for one in named if one != graph]
        start = f"at the start of {'each' if several else 'the'} program"
        more = f", and {' and '.join(rest)} {start}" if rest else ""
        return f"call {graph} {graphs}, as elsewhere it seeds another graph{more}"
    inside = f" ({graph} inside the graph)" if graph and len(named) > 1 else " in the graph" if graph else ""
    return f"call {_listed(named)} at the start, before anything is drawn{inside}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _graphs(group: Iterable[Finding], first: Finding) -> str:
    """Where the graphs begin that TensorFlow's seed has to be set in, in words; empty where it is the program's."""
    own, reset = (
        sorted({one.location for found in group for one in found.related if one.note == note})
        for note in (OWN_GRAPH, RESET_GRAPH)
    )
    places = [f"line {at.line}" if at.path == first.location.path else f"{at.path}:{at.line}" for at in own or reset]
    if not places:
        return ""
    shown, left = places[:_MOST_GRAPHS], len(places) - _MOST_GRAPHS
    told = f"{', '.join(shown)} and {left} more" if left > 0 else _listed(shown)
    if not own:
        return f"after `tf.reset_default_graph()` ({told})"
    return f"first in {'the' if len(places) == 1 else 'each'} block of `as_default()` ({told})"


def _flag_first(group: Sequence[Finding], remedy: str) -> str:
    """The remedy, after the flag that gives the program a seed, where all is found when it is not given."""
    missing = [{match[1] for words in one.when if (match := _NO_SEED.fullmatch(words))} for one in group]
    flags = sorted(set.intersection(*missing))
    return f"pass `{flags[0]} 1`, or {remedy}" if flags and remedy.startswith("call ") else remedy


def _places(first: Finding, others: Iterable[Finding]) -> list[Related]:
    """The other findings as places of the first, and what belongs to any of them; each place once, scripts first."""
    told = [Related(found.location, _note(found, first), found.rule) for found in others]
    more = (related for found in (first, *others) for related in found.related)
    places: dict[Location, Related] = {}
    for related in (*told, *more):
        if related.location != first.location:
            places.setdefault(related.location, related)
    scripts = {entry for found in (first, *others) for entry in found.entries}
    return sorted(places.values(), key=lambda place: place.location.path not in scripts)


def _note(found: Finding, first: Finding) -> str:
    """What a finding says, and when, as far as that is not said already."""
    when = [words for words in found.when if words not in first.when]
    return found.message + (f" (when {' and '.join(when)})" if when else "")
