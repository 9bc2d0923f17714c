"""The line of plain Python after which a variable of the program differs: where a set was listed, say."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable

from d9mlint.model import Culprit
from d9mlint.model.trace import EXTERNAL, ORDER
from d9mlint.trace.align import ledger
from d9mlint.trace.recording import MAIN, Event, Recording

_HARMLESS = {"time", "process", "address", "entropy"}
"""What a line reads that differs in every program and is seldom what makes its runs part."""


def first_difference(one: Recording, other: Recording, reached: Culprit) -> Culprit | None:
    """The first line of the program after which a variable differs, clocks and the like aside.

    ``reached``: where the difference was seen to come into an op.
    """
    harmless = {
        entry.one.place[:2]
        for entry in ledger(one, other)
        if entry.one.kind == "source" and entry.one.fields[0] in _HARMLESS
    }
    waiting: dict[Hashable, list[Event]] = defaultdict(list)
    for event in _values(other):
        waiting[event.place, event.fields[0]].append(event)
    counts: Counter[Hashable] = Counter()
    for event in _values(one):
        key = (event.place, event.fields[0])
        several = waiting.get(key, [])
        number, counts[key] = counts[key], counts[key] + 1
        if number >= len(several) or event.fields[1] == several[number].fields[1] or event.place[:2] in harmless:
            continue
        same = bool(event.fields[2]) and event.fields[2] == several[number].fields[2]
        return _culprit(event, reached, same)
    return None


def _values(recording: Recording) -> list[Event]:
    return [event for name, events in recording.events if name == MAIN for event in events if event.kind == "value"]


def _culprit(event: Event, reached: Culprit, same: bool) -> Culprit:
    path, line, _ = event.place
    name = str(event.fields[0])
    what = "what it returns" if name == "return" else f"`{name}`"
    how = "holds the same in another order" if same else "differs"
    note = f"after this line {what} {how}; it reaches `{reached.op}` on line {reached.line}"
    return Culprit(path, line, reached.op, ORDER if same else EXTERNAL, reached.inputs, note)
