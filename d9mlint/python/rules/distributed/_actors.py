"""Actors that work side by side and share others, whose state each of them finds as the others have left it by then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from d9mlint.model import Location, Related, Rule
from d9mlint.python.domain.conditions import both, either
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.actors import Race, races
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.order.orders import is_numeric

_READS = "reads the actor `{}` while other processes change it"
_RUNS = "starts a process that " + _READS
_PUTS = "has several processes change the actor `{}`"
_TURNS = (
    "work in turns: start all calls of a turn, wait for them in the order in which they were started "
    "(`ray.get(refs)`), and only then read or change what they share; hand weights over as arguments, and take what "
    "the calls return"
)
_ENDED = (
    "wait for what is running (`ray.get` of the references that its calls give) before its results are read, or let it "
    "give them back after a known number of steps; where several run, take their results in the order of the calls"
)


def check(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each call that starts what depends on others by then, and where the process that has started them looks."""
    if not is_numeric(program):
        return
    groups: dict[object, list[Race]] = {}
    for race in races(program):
        if race.access.reads or (race.several and race.start is not None):
            groups.setdefault(_place(race), []).append(race)
    for group in groups.values():
        yield _draft(program, rule, group)


def _place(race: Race) -> object:
    """What one finding speaks of: a call that starts something, or what one function reads of an actor."""
    if race.start is not None:
        return race.start.location
    return id(race.access.event.func), id(race.access.actor.cls)


def _draft(program: Program, rule: Rule, group: list[Race]) -> Draft:
    first = next((one for one in group if one.access.reads), group[0])
    at = first.start or first.access.event
    does = (_READS if first.start is None else _RUNS) if first.access.reads else _PUTS
    ways = either(*(both(*(one.start or one.access.event).guards) for one in group))
    where = at.func.name if first.start is None and at.func is not None else ""
    return draft(
        program, rule, replace(at, guards=()), cond=ways, related=dict.fromkeys(_related(group, at.location)),
        remedy=_TURNS if first.start is not None else _ENDED, last=at.raw,
        does=does.format(first.access.actor.cls.node.name), cause=f"{rule.cause}-{where}" if where else "",
    )  # fmt: skip


def _related(group: list[Race], at: Location) -> Iterator[Related]:
    """Of each actor one place where it is read, and what changes it meanwhile."""
    told: set[tuple[int, bool]] = set()
    for race in group:
        key = (id(race.access.actor.cls.node), race.access.reads)
        if key in told:
            continue
        told.add(key)
        name = race.access.actor.cls.node.name
        if not race.access.reads:
            yield Related(race.access.event.location, f"several processes change `{name}` here, each when it gets here")
            continue
        if race.access.event.location != at:
            yield Related(race.access.event.location, f"`{name}` is read here")
        yield Related(race.other.event.location, f"another process changes `{name}` here")
