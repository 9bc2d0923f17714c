"""Where two recordings part by themselves: ops that differ although what goes in does not, and data that comes in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from d9mlint.trace import align
from d9mlint.trace.align import Op, Pair
from d9mlint.trace.recording import DATASET, Recording

OP, DRAW, MEMORY, ENTRY, NUMBER, FLOW, THREADS = "op", "draw", "memory", "entry", "number", "flow", "threads"
COLLECTIVE = "collective"
"""An op; a draw; memory that nobody has written; a tensor from outside; a number from outside; another way through the
program; threads that come in another order; what other processes have sent."""
_EMPTY = "empty"
_ENDS = ("exit", "steps")


class Root(NamedTuple):
    """A place where runs part that is not the consequence of another."""

    kind: str
    one: Op
    other: Op | None
    input: int = 0
    """Which of the inputs differs."""
    writer: Op | None = None
    """For memory: what handed it out. For threads: the op in a thread that the other run lacks."""


class _Known:
    """What is known about the events of the first recording, by their numbers."""

    def __init__(self, pairs: Sequence[Pair], threads: Sequence[Pair], seen: set[str]) -> None:
        self.pairs = {pair.one.number: pair for pair in pairs}
        self.threads = {pair.one.number: pair for pair in threads}
        self._readers: dict[int, list[Pair]] = defaultdict(list)
        for pair in (*pairs, *threads):
            for number in {one[3] for one in pair.one.ins}:
                self._readers[number].append(pair)
        self.lonely: Op | None = next((pair.one for pair in threads if pair.other is None), None)

        lonely = self.lonely
        self.mixed = lonely if lonely is not None and seen.issuperset(lonely.digests) else None
        """An op in a thread that the other run has with other partners: each of its inputs is there, too."""

    def goes_on(self, pair: Pair) -> bool:
        """Whether something that reads a result gives other results for it, or nothing recorded reads it.

        A workspace that an op leaves half filled differs, and nobody looks at that half.
        """
        readers = self._readers.get(pair.one.number, [])
        return not readers or any(one.other is None or not align.alike(one.one.outs, one.other.outs) for one in readers)

    def root_of(self, pair: Pair, other: Op, index: int) -> Root | None:
        """Why an input differs, unless a recorded op has brought the difference."""
        number = pair.one.ins[index][3]
        if number < 0:
            writer = self.pairs.get(-number) or self.threads.get(-number)
            return Root(MEMORY, pair.one, other, index, writer.one if writer else None)
        if number in self.threads and self.threads[number].one.event.thread == DATASET:
            return Root(ENTRY, pair.one, other, index, self.mixed)
        if number in self.threads:
            return Root(THREADS, pair.one, other, index, self.lonely or self.threads[number].one)
        writer = self.pairs.get(number)
        if writer is None:
            return Root(ENTRY, pair.one, other, index)
        if writer.other is None or not _same(writer):
            return None
        if writer.one.kind == COLLECTIVE:
            sent = align.alike(writer.one.digests, writer.other.digests)
            return Root(COLLECTIVE, writer.one, writer.other) if sent else None
        return Root(ENTRY, pair.one, other, index)  # written over since, by something that is not recorded


def _same(pair: Pair) -> bool:
    other = pair.other
    return other is not None and align.alike(pair.one.outs, other.outs) and pair.one.kind != _EMPTY


def found(one: Recording, other: Recording) -> Iterator[Root]:
    """The roots, in the order in which the first run came to them; each stands for all that follows from it."""
    first, second = align.ops(one), align.ops(other)
    seen = {text for op in second for text in (*op.digests, *op.outs)}
    pairs, threads = align.paired(first, second), align.threaded(first, second)
    known = _Known(pairs, threads, seen)
    ordered = sorted([*pairs, *threads], key=lambda pair: pair.one.number)
    for pair in ordered:
        root = _root(pair, known)
        if root is not None and root.kind == FLOW and other.end not in _ENDS:
            return  # the other run was cut off here
        if root is not None:
            yield root
            if root.kind == FLOW:
                return


def _root(pair: Pair, known: _Known) -> Root | None:
    one, other = pair
    if other is None:
        return Root(FLOW, one, None) if one.number in known.pairs else None
    if one.kind == COLLECTIVE:
        return None  # told of when something reads what has come
    if one.generator and one.generator[:2] != other.generator[:2]:
        return Root(DRAW, one, other)
    if one.kind == "entry":
        return None if align.alike(one.digests, other.digests) else Root(ENTRY, one, other, writer=known.mixed)
    for index, (text, text2) in enumerate(zip(one.digests, other.digests, strict=False)):
        if not align.alike((text,), (text2,)):
            root = known.root_of(pair, other, index)
            if root is not None:
                return root
    if one.digests != other.digests and not align.alike(one.digests, other.digests):
        return None
    if one.scalars != other.scalars:
        return Root(NUMBER, one, other)
    if align.alike(one.outs, other.outs) or one.kind == _EMPTY:
        return None
    main = align.alike(one.outs[:1], other.outs[:1])  # what differs comes beside the result: perhaps a workspace
    return None if main and not known.goes_on(pair) else Root(OP, one, other)
