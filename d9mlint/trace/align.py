"""Two recordings side by side: events are matched by line, op and count, not by their position.

Threads come to a line in any order, so what they do is matched by what goes in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from d9mlint.trace.recording import MAIN, Event, Recording

OPAQUE = "?"
_LEDGER = ("draw", "seed", "source", "read")


class Op(NamedTuple):
    """An event of an op, its fields by name."""

    event: Event
    kind: str
    name: str
    direction: str
    scalars: str
    ins: tuple[tuple[str, str, tuple[int, ...], int], ...]
    """Digest, type, shape, and the number of the event that has written it (0: none; below zero: handed out empty)."""
    outs: tuple[str, ...]
    generator: tuple[str, ...]
    """Its name, a digest of its state, its seed; empty for an op that draws nothing."""
    bag: str
    """A digest of the elements in any order; only of data that comes in."""
    key: str = ""
    """The node of the graph that it is, where there is one."""

    @property
    def number(self) -> int:
        """Of the event."""
        return self.event.number

    @property
    def digests(self) -> tuple[str, ...]:
        """Of what goes in."""
        return tuple(one[0] for one in self.ins)


class Pair(NamedTuple):
    """An op in both recordings; ``other`` is None where the second one lacks it."""

    one: Op
    other: Op | None


class Entry(NamedTuple):
    """An event of a ledger (a draw, a seed, a source, a file read) in both recordings."""

    process: str
    one: Event
    other: Event | None

    @property
    def differs(self) -> bool:
        """Whether both are there, and tell of different things."""
        return self.other is not None and self.one.fields != self.other.fields


def op_of(event: Event) -> Op:
    """The fields of an event of kind ``op``."""
    kind, name, direction, scalars, ins, outs, generator, bag, *more = event.fields
    return Op(
        event, kind, name, direction, scalars, tuple((one[0], one[1], tuple(one[2]), one[3]) for one in ins),
        tuple(outs), tuple(generator), bag, *more,
    )  # fmt: skip


def ops(recording: Recording) -> list[Op]:
    """The ops of the program's first process, in the order in which they were executed."""
    return [op_of(event) for name, events in recording.events if name == MAIN for event in events if event.kind == "op"]


def alike(digests: Sequence[str], others: Sequence[str]) -> bool:
    """Whether digests say the same; what has no digest is taken to be the same."""
    return len(digests) == len(others) and all(
        one == other or OPAQUE in (one, other) for one, other in zip(digests, others, strict=True)
    )


def paired(one: Iterable[Op], other: Iterable[Op]) -> list[Pair]:
    """The ops of the main thread, matched by line, op and count."""
    waiting: dict[Hashable, list[Op]] = defaultdict(list)
    for op in other:
        if op.event.thread == MAIN:
            waiting[_key(op)].append(op)
    counts: Counter[Hashable] = Counter()
    pairs = []
    for op in one:
        if op.event.thread != MAIN:
            continue
        key = _key(op)
        found = waiting.get(key, [])
        pairs.append(Pair(op, found[counts[key]] if counts[key] < len(found) else None))
        counts[key] += 1
    return pairs


def _key(op: Op) -> Hashable:
    return (op.event.place, op.name, op.direction, op.key)


def threaded(one: Iterable[Op], other: Iterable[Op]) -> list[Pair]:
    """The ops of all other threads, matched by line, op and what goes in; ``other`` is None where nothing else fits."""
    waiting: dict[Hashable, list[Op]] = defaultdict(list)
    for op in other:
        if op.event.thread != MAIN:
            waiting[_key_of_thread(op)].append(op)
    pairs = []
    for op in one:
        if op.event.thread == MAIN:
            continue
        found = waiting.get(_key_of_thread(op), [])
        same = next((n for n, candidate in enumerate(found) if candidate.outs == op.outs), 0)
        pairs.append(Pair(op, found.pop(same) if found else None))
    return pairs


def _key_of_thread(op: Op) -> Hashable:
    return (_key(op), op.scalars, op.digests)


def ledger(one: Recording, other: Recording) -> list[Entry]:
    """Draws, seeds, sources and files read, matched by process, thread, line, name and count; in the first's order."""
    found: list[Entry] = []
    others: dict[Hashable, list[Event]] = defaultdict(list)
    for name, events in other.events:
        for event in events:
            if event.kind in _LEDGER:
                others[name, _key_of_entry(event)].append(event)
    counts: Counter[Hashable] = Counter()
    for name, events in one.events:
        for event in events:
            if event.kind not in _LEDGER:
                continue
            key = (name, _key_of_entry(event))
            several = others.get(key, [])
            found.append(Entry(name, event, several[counts[key]] if counts[key] < len(several) else None))
            counts[key] += 1
    return found


def _key_of_entry(event: Event) -> tuple[Any, ...]:
    named = event.fields[:1] if event.kind == "read" else event.fields[:2]
    return (event.kind, event.thread, event.place, named)
