"""Actors that several processes call at the same time: who reads what another may change by then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from d9mlint.model import Location
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Class, Func, Inst, Seq, Value, alternatives
from d9mlint.python.frameworks import ray
from d9mlint.python.interpreter.program import Program
from d9mlint.python.source import facts as f
from d9mlint.python.source.queries import Changes, changes


@dataclass(frozen=True, slots=True)
class Access:
    """A call of a method of an actor: ``event`` in the process that calls it, after the ``starts`` that lead there."""

    event: Event
    actor: Inst
    does: Changes
    starts: tuple[Event, ...]
    """The calls that run something in another process in which the next of them stands, outermost first."""

    @property
    def reads(self) -> bool:
        """Whether somebody gets what the actor holds."""
        return self.does.looks and self.does.answers and not self.event.discarded


@dataclass(frozen=True, slots=True)
class Race:
    """A call that depends on when another process makes its own; ``start`` is what runs the first beside the other."""

    access: Access
    other: Access
    start: Event | None
    """None where it stands in the process that has started the other."""
    several: bool
    """Both are calls of several actors, or tasks, that run the same."""


def races(program: Program) -> list[Race]:
    """The calls of actors whose effect depends on timing, in order."""
    return program.once("actor-races", _races)


def _races(program: Program) -> list[Race]:
    accesses = _accesses(program)
    if not accesses:
        return []
    waits = _Waits(program)
    shared: dict[int, list[Access]] = {}
    for one in accesses:
        shared.setdefault(id(one.actor), []).append(one)
    found: list[Race] = []
    for its in shared.values():
        writers = [one for one in its if one.does.state]
        kept = any(one.reads for one in its)
        for one in its if kept else ():
            if one.reads or one.does.state:
                race = next((r for other in writers if (r := waits.race(one, other)) is not None), None)
                found += [race] if race is not None else []
    return sorted(found, key=lambda race: race.access.event.index)


def _accesses(program: Program) -> list[Access]:
    """The calls of methods of actors, one for each place and each way that leads there."""
    starts: dict[Location, list[Event]] = {}
    for event in program.calls(ray.CALL, ray.CONSTRUCT, ray.TASK):
        starts.setdefault(event.location, []).append(event)
    found: dict[tuple[object, ...], Access] = {}
    for event in program.calls(ray.CALL):
        method = ray.called_method(event)
        if method is None or event.detached or not isinstance(method.receiver, Inst):
            continue
        chain = tuple(_started(starts, event))
        key = (id(method.receiver), id(method.func), event.location, tuple(map(id, chain)))
        if key not in found:
            found[key] = Access(event, method.receiver, _does(method.func, method.receiver.cls), chain)
    return [*found.values()]


def _started(starts: dict[Location, list[Event]], event: Event) -> Iterator[Event]:
    """The calls that have led to an event into other processes, outermost first."""
    for place in event.stack:
        before = [one for one in starts.get(place, ()) if one.index < event.index]
        if before:
            yield before[-1]


def _does(func: Func, cls: Class) -> Changes:
    """What a method does to its object, with those of its own that it calls."""
    state = looks = answers = False
    todo, seen = [func], set[int]()
    while todo:
        one = todo.pop()
        if not isinstance(one.node, f.Def) or id(one.node) in seen:
            continue
        seen.add(id(one.node))
        does = changes(one.node)
        state, looks = state or does.state, looks or does.looks
        answers = answers or (one is func and does.answers)
        methods = (current.frame.vars.get(name) for name in sorted(does.calls) for current in cls.line())
        todo += [method for method in methods if isinstance(method, Func)]
    return Changes(state, looks, answers, frozenset())


class _Waits:
    """What of it runs at the same time: what one call starts goes on until its result is waited for."""

    def __init__(self, program: Program) -> None:
        self._until: dict[int, Event] = {}
        """By the ``id`` of a start the first call that waits for what it gives."""
        self._made = {id(e.result): e for e in program.calls(ray.CONSTRUCT) if isinstance(e.result, Inst)}
        for event in program.calls(*ray.WAITS):
            for made in _references(event.args[0] if event.args else None):
                self._until.setdefault(id(made), event)

    def race(self, one: Access, other: Access) -> Race | None:
        """How a call depends on when another that changes the actor is made; None where their order is fixed."""
        if not one.event.meets(other.event):
            return None
        level = 0
        for start, same in zip(one.starts, other.starts, strict=False):
            if start is not same:
                break
            if self._side_by_side(start, one.actor):
                return Race(one, other, start, True)
            level += 1
        mine = one.starts[level] if level < len(one.starts) else None
        its = other.starts[level] if level < len(other.starts) else None
        if mine is not None and its is not None:
            first, second = sorted((mine, its), key=lambda e: e.index)
            apart = self._process(first) is not self._process(second)
            return Race(one, other, mine, False) if apart and self._waited(first) > second.index else None
        running, at = (mine, other.event) if mine is not None else (its, one.event)
        beside = running is not None and running.index < at.index < self._waited(running)
        return Race(one, other, mine, False) if beside else None

    def _waited(self, start: Event) -> float:
        found = self._until.get(id(start))
        return inf if found is None else found.index

    def _process(self, start: Event) -> object:
        """Whose process a call is run in."""
        method = ray.called_method(start)
        return method.receiver if method is not None else start

    def _side_by_side(self, start: Event, actor: Inst) -> bool:
        """Whether a call starts the same in several processes, none of which waits for another."""
        until = self._until.get(id(start))
        if not start.loops or (until is not None and until.loops == start.loops):
            return False
        if start.name == ray.TASK:
            return True
        method = ray.called_method(start)
        made = self._made.get(id(method.receiver)) if method is not None else start
        shared = self._made.get(id(actor))
        depth = len(shared.loops) if shared is not None else 0
        return made is not None and len(made.loops) > depth


def _references(value: Value | None) -> Iterator[Event]:
    """The calls whose results the references in a value stand for."""
    for _, leaf in alternatives(value):
        made = ray.referred(leaf)
        if made is not None:
            yield made
        elif isinstance(leaf, Seq):
            for item in (*(leaf.items or ()), *((leaf.element,) if leaf.element is not None else ())):
                yield from _references(item)
