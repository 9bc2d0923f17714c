"""Whether runs under the same conditions are equal, and if not, where they part."""

from __future__ import annotations

from collections.abc import Sequence

from d9mlint.model import Comparison
from d9mlint.model.trace import EQUAL, FAILED, PART
from d9mlint.trace.process import SLOW
from d9mlint.trace.run import Run

_CONFIDENCE = 0.95


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
    first, second = one.recording, other.recording
    steps = min(len(first.steps), len(second.steps))
    cut = next((run for run in (one, other) if not run.whole), None)
    if cut is not None and (one.ended.how, one.ended.code) == (other.ended.how, other.ended.code):
        return Comparison(FAILED, what=f"both runs {ending(cut)}{_until(steps)}", steps=steps)
    if cut is not None and cut.ended.how == SLOW:
        return Comparison(FAILED, what=f"a run {ending(cut)}{_until(steps)}", steps=steps)
    if cut is not None:
        return Comparison(PART, what=f"one run {ending(one)}, the other {ending(other)}", steps=steps)
    if len(first.steps) != len(second.steps):
        what = f"one run makes {len(first.steps)} steps, the other {len(second.steps)}"
        return Comparison(PART, steps + 1, what, steps)
    if not steps and not first.losses:
        return _by_output(one, other)
    return Comparison(EQUAL, steps=steps)


def parting(runs: Sequence[Run], comparison: Comparison) -> tuple[Run, Run]:
    """The two of the runs that a comparison is about."""
    return runs[0], next(other for other in runs[1:] if _two(runs[0], other) == comparison)


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


def _by_steps(one: Run, other: Run) -> Comparison | None:
    """The first loss or step that differs."""
    first, second = one.recording, other.recording
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
    found = min([*losses[:1], *steps[:1]], default=None)
    if found is None:
        return None
    return Comparison(PART, found[0], found[2], found[0] - 1)


def _by_output(one: Run, other: Run) -> Comparison:
    """For a program without an optimizer: what it wrote."""
    if one.output != other.output:
        return Comparison(PART, what="what they write to the standard output differs")
    for path in sorted({*one.wrote, *other.wrote}):
        if one.wrote.get(path) != other.wrote.get(path) and path in one.wrote and path in other.wrote:
            return Comparison(PART, what=f"they write `{path}` differently")
    return Comparison(EQUAL)


def _until(steps: int) -> str:
    return f"; they are equal for {steps} steps" if steps else ""


def _number(value: str) -> str:
    return f"{float.fromhex(value):.9g}"


def ending(run: Run) -> str:
    """How a run ended, as the end of a sentence."""
    said = f": {run.ended.said}" if run.ended.said else ""
    if run.ended.how == SLOW:
        return f"was stopped after {run.ended.seconds:.0f} s"
    if run.recording.end == "steps":
        return f"was ended after {len(run.recording.steps)} steps, as asked"
    if run.recording.end == "full":
        return "filled its recording"
    if run.ended.code < 0:
        return f"was ended by signal {-run.ended.code}{said}"
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
        written = dict(reversed(later.recording.written))
        for event in later.recording.read:
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
