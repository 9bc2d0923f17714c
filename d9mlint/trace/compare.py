"""Whether runs under the same conditions are equal, and if not, where they part."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from d9mlint.model import Comparison
from d9mlint.model.trace import EQUAL, FAILED, PART
from d9mlint.trace.process import SLOW
from d9mlint.trace.recording import Recording
from d9mlint.trace.run import Run

_CONFIDENCE = 0.95
_ENDING = {signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGKILL}
"""Signals that others send."""


def compared(runs: Sequence[Run]) -> Comparison:
    """The verdict on two or more runs: each is held against the first."""
    broken = next((one for one in runs if not one.recording.started), None)
    if broken is not None:
        return Comparison(FAILED, what=f"nothing was recorded: {ending(broken)}")
    unhooked = next((note for one in runs for note in one.recording.notes if "cannot be hooked" in note), "")
    found = [_two(runs[0], other) for other in runs[1:]]
    if not found:
        return Comparison(FAILED, what="there is nothing to compare the run with")
    parted = [one for one in found if one.verdict == PART]
    if parted:
        return min(parted, key=lambda one: one.step or 0)
    if unhooked:
        return Comparison(FAILED, what=unhooked)
    return next((one for one in found if one.verdict == FAILED), min(found, key=lambda one: one.steps))


def _two(one: Run, other: Run) -> Comparison:
    parted = _by_steps(one, other)
    if parted is not None:
        return parted
    pairs = _pairs(one, other)
    steps = min((min(len(first.steps), len(second.steps)) for _, first, second in pairs), default=0)
    cut = next((run for run in (one, other) if not run.whole), None)
    if cut is not None and (one.ended.how, one.ended.code) == (other.ended.how, other.ended.code):
        return Comparison(FAILED, what=f"both runs {_plural(ending(cut))}{_until(steps)}", steps=steps)
    outside = next((run for run in (one, other) if _from_outside(run)), None)
    if outside is not None:
        return Comparison(FAILED, what=f"a run {ending(outside)}{_until(steps)}", steps=steps)
    if cut is not None:
        return Comparison(PART, what=f"one run {ending(one)}, the other {ending(other)}", steps=steps)
    names, others = ({name for name, _ in run.recording.parts} for run in (one, other))
    if names != others:
        return Comparison(PART, what=f"only one of the runs has {_named(min(names ^ others))}", steps=steps)
    for name, first, second in pairs:
        if len(first.steps) != len(second.steps):
            what = f"{_in(name)}one run makes {len(first.steps)} steps, the other {len(second.steps)}"
            at = min(len(first.steps), len(second.steps))
            return Comparison(PART, at + 1, what, at)
    if not steps and not any(first.losses for _, first, _ in pairs):
        return _by_output(one, other)
    if not steps:
        count = min(min(len(first.losses), len(second.losses)) for _, first, second in pairs if first.losses)
        return Comparison(EQUAL, what=f"the first {count} losses are the same; no step of an optimizer was seen")
    return Comparison(EQUAL, steps=steps)


def parting(runs: Sequence[Run], comparison: Comparison) -> tuple[Run, Run]:
    """The two of the runs that a comparison is about."""
    return runs[0], next(other for other in runs[1:] if _two(runs[0], other) == comparison)


def apart(one: Run, other: Run) -> tuple[Recording, Recording]:
    """The recordings of the part of the program, a rank perhaps, that parts first."""
    found = [
        (*parted[:2], first, second) for _, first, second in _pairs(one, other) for parted in _parted(first, second)
    ]
    if not found:
        return one.recording.leading, other.recording.leading
    return min(found, key=lambda each: each[:2])[2:]


def disturbed(runs: Sequence[Run], recorded: Run) -> Comparison | None:
    """How a run that was recorded in more detail differs from ``runs``, where these are equal.

    None: as far as can be told it does not. From where the runs themselves part nothing can be told.
    """
    among = compared(runs)
    found = _two(runs[0], recorded)
    if found.verdict != PART or among.verdict not in (EQUAL, PART):
        return None
    if among.verdict == PART and (among.step is None or found.step is None or found.step >= among.step):
        return None
    return found


def _from_outside(run: Run) -> bool:
    """Whether it was cut off by what is no part of the program: the time, the disk, a signal to end."""
    recorded = not run.recording.lost and all(one.end != "full" for _, one in run.recording.parts)
    return run.ended.how == SLOW or not recorded or -run.ended.code in _ENDING


def _pairs(one: Run, other: Run) -> list[tuple[str, Recording, Recording]]:
    """The parts that both runs have: the program's first process, ranks."""
    others = dict(other.recording.parts)
    return [(name, first, others[name]) for name, first in one.recording.parts if name in others]


def _named(part: str) -> str:
    """`rank 0`, `process 1`; of the first process that it is this."""
    return part.replace("-", " ") if part else "steps in its first process"


def _in(part: str) -> str:
    return f"in {_named(part)} " if part else ""


def _by_steps(one: Run, other: Run) -> Comparison | None:
    """The first loss or step that differs, in whichever rank."""
    found = [(*parted, name) for name, first, second in _pairs(one, other) for parted in _parted(first, second)]
    if not found:
        return None
    step, _, what, name = min(found, key=lambda each: each[:2])
    return Comparison(PART, step, _in(name) + what, step - 1)


def _parted(first: Recording, second: Recording) -> list[tuple[int, int, str]]:
    """Where the losses and where the parameters differ first: the step, a rank of the two at one step, in words."""
    losses = [
        (loss.before + 1, 0, f"the loss differs ({_number(loss.value)} and {_number(loss2.value)})")
        for loss, loss2 in zip(first.losses, second.losses, strict=False)
        if loss.digest != loss2.digest
    ]
    steps = [
        (number, 1, "the parameters differ after it")
        for number, (text, text2) in enumerate(zip(first.steps, second.steps, strict=False), 1)
        if text != text2
    ]
    return [*losses[:1], *steps[:1]]


def _by_output(one: Run, other: Run) -> Comparison:
    """For a program without an optimizer: what it wrote."""
    if one.output != other.output:
        return Comparison(PART, what="what they write to the standard output differs")
    for path in sorted({*one.wrote, *other.wrote}):
        if one.wrote.get(path) != other.wrote.get(path) and path in one.wrote and path in other.wrote:
            return Comparison(PART, what=f"they write `{path}` differently")
    return Comparison(EQUAL)


def _plural(ended: str) -> str:
    return "were" + ended[len("was") :] if ended.startswith("was ") else ended


def _until(steps: int) -> str:
    return f"; they are equal for {steps} steps" if steps else ""


def _number(value: str) -> str:
    return f"{float.fromhex(value):.9g}"


def ending(run: Run) -> str:
    """How a run ended, as the end of a sentence."""
    said = f": {run.ended.said}" if run.ended.said else ""
    if run.ended.how == SLOW:
        return f"was stopped after {run.ended.seconds:.0f} s"
    parts = [one for _, one in run.recording.parts]
    asked = next((one for one in parts if one.end == "steps"), None)
    if asked is not None:
        return f"was ended after {len(asked.steps)} steps, as asked"
    if any(one.end == "full" for one in parts):
        return "filled its recording"
    if run.recording.lost:
        return "could not be recorded to its end, as the disk is full"
    if run.ended.code < 0:
        why = ", as by a system that has no memory left" if -run.ended.code == signal.SIGKILL else ""
        return f"was ended by signal {-run.ended.code}{why}{said}"
    return f"ended with exit code {run.ended.code}{said}" if run.ended.code else "came to its end"


def bound(comparison: Comparison, runs: int) -> float | None:
    """The largest rate of parting (of a step, or of a run without steps) that equal runs leave possible.

    With no event in n independent trials it is at most 1 - 0.05^(1/n), with 95 % confidence.
    """
    if comparison.verdict != EQUAL:
        return None
    trials = max(comparison.steps, 1) * (runs - 1)
    return float(1 - (1 - _CONFIDENCE) ** (1 / trials))


def left_for_the_next(runs: Sequence[Run]) -> list[str]:
    """Files that a run has written and a later one has read before it wrote them itself."""
    told: list[str] = []
    for number, later in enumerate(runs[1:], 1):
        earlier = {path for run in runs[:number] for path in run.wrote}
        for _, part in later.recording.parts:
            written = dict(reversed(part.written))
            for event in part.read:
                path = str(event.fields[0])
                if path in earlier and path not in told and event.number < written.get(path, event.number + 1):
                    told.append(path)
    return told


def differing_files(runs: Sequence[Run]) -> list[str]:
    """Files that the runs have written differently."""
    first = runs[0]
    return sorted(
        {path for other in runs[1:] for path, text in other.wrote.items() if first.wrote.get(path, text) != text}
    )
