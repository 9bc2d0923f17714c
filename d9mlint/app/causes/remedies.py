"""What to do about a cause: one remedy out of those of its findings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from d9mlint.app.causes.groups import part, slug
from d9mlint.app.causes.leading import NO_SEED
from d9mlint.model import OWN_GRAPH, RESET_GRAPH, Finding
from d9mlint.python.judging.processes import PLACED, RANKS

_CODE = re.compile(r"`[^`]+`")
_DOES_NOT = re.compile(r"`[^`]+` does not do it")
"""In a remedy, a call that is no part of it."""
_OR_ELSE = re.compile(r", or pass a (seeded )?generator:")
"""In a remedy, before what cures one draw and no other."""
_EITHER = re.compile(r"^[^;]*, or [^;]*$")
"""A remedy that is one thing or another."""
_FLAG_GIVEN = "pass it on: "
"""How the remedy for a flag begins whose value nothing takes."""
_GOES_ON = "; "
"""Between the parts of a remedy."""
_MOST_PROGRAMS = 2
"""Programs that a remedy names."""
_MOST_GRAPHS = 3
"""Places where graphs begin that a remedy names."""


def of_cause(ranked: Sequence[Finding]) -> str:
    """What to do about all findings of a cause, of which the first leads."""
    first, *others = ranked
    concerns = sorted({name for one in ranked if (name := part(one))})
    told = _remedies(ranked) if others else [first.remedy]
    rules = {one.rule for one in others} - {first.rule}
    return _flag_first(ranked, _seeds_first(first, told, concerns, _graphs(ranked, first), rules))


def _remedies(group: Sequence[Finding]) -> list[str]:
    """What to do about each part of the cause, in the order of the findings; what a call does that is told is not."""
    parts: dict[str, str] = {}
    for found in group:
        call = _CODE.search(found.remedy)
        again = call and any(call[0] in _DOES_NOT.sub("", told) for told in parts.values())
        if not again or _lacks_seed(parts.values(), found):
            parts.setdefault(found.cause, found.remedy)
    whole = {
        cause: told + _further(told, (one for one in group if one.cause == cause)) for cause, told in parts.items()
    }
    return list(dict.fromkeys(filter(None, whole.values())))


def _lacks_seed(told: Iterable[str], found: Finding) -> bool:
    """Whether the remedy of a finding names seeds, and what is told so far has none for its generator."""
    from d9mlint.fix.statements import block, seeds

    return bool(part(found) and seeds(found.remedy)) and block("\n".join(told), [part(found)]) is None


def _further(told: str, group: Iterable[Finding]) -> str:
    """What a remedy goes on with in some programs of a cause, as with ops that raise there once the switch is on."""
    more: dict[str, set[str]] = {}
    for found in group:
        if found.remedy.startswith(f"{told}{_GOES_ON}"):
            more.setdefault(found.remedy.removeprefix(f"{told}{_GOES_ON}"), set()).update(found.entries)
    return "".join(f"{_GOES_ON}in {_programs(sorted(more[text]))} {text}" for text in sorted(more) if more[text])


def _programs(entries: Sequence[str]) -> str:
    left = len(entries) - _MOST_PROGRAMS
    return _listed([*(f"`{one}`" for one in entries[:_MOST_PROGRAMS]), *([f"{left} more"] if left > 0 else [])])


def _seeds_first(
    first: Finding, remedies: Sequence[str], concerns: Sequence[str], graphs: str, others: Collection[str]
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
    missing = [{match[1] for words in one.when if (match := NO_SEED.fullmatch(words))} for one in group]
    flags = sorted(set.intersection(*missing))
    return f"pass `{flags[0]} 1`, or {remedy}" if flags and remedy.startswith("call ") else remedy
