"""What repeating each op on the same inputs has shown."""

from __future__ import annotations

from d9mlint.model import Culprit, Shadowed
from d9mlint.model.trace import OP
from d9mlint.trace import compare
from d9mlint.trace.calls import with_call
from d9mlint.trace.run import Run

MOST = 20
"""Ops that are told."""


def shadowed(run: Run, repeats: int) -> Shadowed:
    """The ops whose results differed, those that differed most often first; paths are absolute."""
    recording = run.recording
    steps = len(recording.steps)
    if not run.whole:
        return Shadowed(repeats, 0, steps, what=f"the run {compare.ending(run)}")
    events = [event for _, several in recording.events for event in several if event.kind == "shadow"]
    if not events:
        return Shadowed(repeats, 0, steps, what="no op of PyTorch was executed; those of others are not repeated")
    varying = sorted((one for one in events if one.fields[2][1]), key=lambda one: -one.fields[2][1])
    found = []
    for event in varying[:MOST]:
        (path, line, _), (name, direction, (executed, varied, distinct), inputs) = event.place, event.fields
        told = ", ".join(f"{dtype} {shape or 'scalar'}" for dtype, shape in inputs)
        note = f"{varied} of {executed} times {repeats} executions on the same inputs gave up to {distinct} results"
        found.append(with_call(Culprit(path, line, name, OP, told, note, direction), recording))
    return Shadowed(repeats, sum(event.fields[2][0] for event in events), steps, tuple(found))
