"""The data flow of ``d9mlint trace``: a program -> runs -> do they part? -> which switch decides? -> which line?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from d9mlint.app.traced import cure
from d9mlint.app.traced.findings import explained
from d9mlint.app.traced.state import MARGIN, TraceOptions, Tracing, Watch, entry, misled, placed
from d9mlint.model import Comparison, Culprit, Shadowed, SwitchTried, TraceReport
from d9mlint.model.trace import EQUAL, FAILED, PART, UNTRIED
from d9mlint.trace import compare
from d9mlint.trace.child.jax import COMPILED
from d9mlint.trace.explain import UNSEEN
from d9mlint.trace.growth import growth
from d9mlint.trace.ranks import culprits
from d9mlint.trace.run import LIGHT, OPS, SHADOW, VALUES, Clock, Conditions, Program, Run, Settings, run
from d9mlint.trace.shadows import shadowed
from d9mlint.trace.switches import JIT_OFF, Switch, applying, with_seeds
from d9mlint.trace.values import first_difference

PARTED, UNFINISHED = 1, 3
_TRIES = 2
_WITHOUT = "without compilation (JAX_DISABLE_JIT=1)"


def announcement(program: Program, options: TraceOptions) -> str:
    """What is about to be run, and where."""
    return announced(program, options, options.runs)


def announced(program: Program, options: TraceOptions, runs: int) -> str:
    """As ``announcement``, for so many runs at least."""
    interpreter = options.python or "this interpreter"
    end = f", each at most to step {options.steps} of its optimizers" if options.steps else ""
    return (
        f"will run `{program.told}` at least {runs} times with {interpreter} "
        f"in this folder, which the runs read and write as always{end}, for at most {options.time:g} s together"
    )


def trace(program: Program, options: TraceOptions, watch: Watch = lambda _: None) -> TraceReport:
    """Runs the program, stage by stage; Ctrl-C and the end of the time leave what was seen until then."""
    state = Tracing(program, options, Settings(options.steps, options.runs), Clock(options.time), watch)
    try:
        _stages(state)
    except KeyboardInterrupt:
        state.stopped = "interrupted"
    except OSError as error:
        state.stopped = f"cannot run {program.python}: {error.strerror or error}"
    return state.report()


def _stages(state: Tracing) -> None:
    state.watch("do two runs differ?")
    runs = state.run(Conditions(), state.options.runs)
    state.comparison = compare.compared(runs)
    if state.comparison.verdict == FAILED:
        state.notes += misled(state.comparison.what, state.options)
        state.stopped = state.comparison.what
    if state.comparison.verdict == PART:
        one, other = compare.parting(runs, state.comparison)
        state.growth = growth(*compare.apart(one, other), state.comparison.step or 1)
        state.watch("where do they part?")
        state.culprits = _located(state, runs)
        state.watch("which switch decides?")
        _switched(state, runs)
        _undisturbed(state)
    if state.options.shadow and state.comparison.verdict in (EQUAL, PART):
        state.watch("which ops vary on the same inputs?")
        state.shadow = _shadowed(state)
    if state.comparison.verdict == PART:
        if state.options.cure:
            state.watch("does a cure make them equal?")
            state.cure = cure.tried(state)
    elif state.options.cure and state.comparison.verdict == EQUAL:
        state.notes.append("the runs are equal: there is nothing to cure")


def _switched(state: Tracing, runs: Sequence[Run]) -> None:
    """Two runs under each switch; where none decides, the seeds and each other one."""
    state.switches.append(SwitchTried("as is", "", state.comparison))
    uses = {name for one in runs for name in one.recording.uses}
    chosen = applying(tuple(uses))
    seconds = MARGIN * sum(one.ended.seconds for one in runs[:2])
    for switch in chosen:
        state.switches.append(_tried(state, switch, seconds))
    if not any(one.decides for one in state.switches):
        for switch in with_seeds(chosen):
            state.switches.append(_tried(state, switch, seconds))
            if state.switches[-1].decides:
                break


def _tried(state: Tracing, switch: Switch, seconds: float) -> SwitchTried:
    if state.clock.left < seconds:
        return SwitchTried(switch.name, switch.changes, Comparison(UNTRIED, what="no time was left: --time"))
    state.watch(f"which switch decides? {switch.name}")
    found = compare.compared(state.run(switch.conditions, 2))
    return SwitchTried(switch.name, switch.changes, found, found.verdict == EQUAL)


def _undisturbed(state: Tracing) -> None:
    """For runs that part at once: does recording change what is computed where a switch makes them equal?"""
    decides = next((one.name for one in state.switches if one.decides), None)
    runs = [one for one in state.runs if one.conditions.switch == decides and one.conditions.stage == LIGHT]
    if len(runs) < 2 or (state.comparison.step or 0) > 1 or state.clock.left < MARGIN * runs[0].ended.seconds:
        return
    state.watch("does recording change the results?")
    _told_of(state, runs, state.run(runs[0].conditions._replace(stage=OPS), 1))


def _told_of(state: Tracing, runs: Sequence[Run], recorded: Sequence[Run]) -> None:
    """Says so where runs that were recorded op by op compute something else than the others."""
    for one in recorded:
        found = compare.disturbed(runs, one)
        if found is not None:
            where = f" at step {found.step}" if found.step else ""
            state.notes.append(
                "recording op by op changes what the program computes: compared with a run that is not recorded, "
                f"{found.what}{where}; so the place that is named may be another than without recording"
            )
            return


def _located(state: Tracing, runs: Sequence[Run]) -> tuple[Culprit, ...]:
    """Where two runs part, that are recorded op by op; tried again where these happen to be equal."""
    for _ in range(_TRIES):
        if state.clock.left <= 0:
            state.stopped = "no time was left to look where they part: --time"
            return ()
        one, other = state.run(Conditions(OPS), 2)
        _told_of(state, runs, (one, other))
        if not (one.whole and other.whole):
            state.notes.append("not all of the runs that were recorded op by op came to their end")
        found = culprits(one.recording, other.recording)
        if found:
            found = (_inside_jit(state, _through_python(state, found[0])), *found[1:])
            return _told(state, found)
    state.notes.append("the runs that were recorded op by op did not part: the hashing may hide a race")
    return ()


def _told(state: Tracing, found: Sequence[Culprit]) -> tuple[Culprit, ...]:
    """The culprits as the user knows their files, with the findings that explain them."""
    cwd = Path.cwd()
    told = tuple(placed(culprit, cwd) for culprit in found)
    script = entry(state.options)
    return told if script is None else explained(told, script, state.options.config)


def _shadowed(state: Tracing) -> Shadowed:
    """Each op of the steps up to that where the runs part, again and again on the same inputs."""
    repeats = state.options.shadow
    if state.clock.left <= 0:
        return Shadowed(repeats, what="no time was left: --time")
    settings = replace(state.settings, steps=state.comparison.step or state.options.steps, repeats=repeats)
    ran = run(state.program, settings, Conditions(SHADOW), 0, state.clock.left)
    state.runs.append(ran)
    found = shadowed(ran, repeats)
    return found._replace(varying=_told(state, found.varying))


def _through_python(state: Tracing, found: Culprit) -> Culprit:
    """The culprit; one that the ops do not explain is looked for in the program's variables."""
    if UNSEEN not in found.note:
        return found
    one, other = state.run(Conditions(VALUES), 2)
    others = dict(other.recording.parts)
    pairs = [(first, others[name]) for name, first in one.recording.parts if name in others]
    seen = (first_difference(first, second, found) for first, second in pairs)
    return next((culprit for culprit in seen if culprit is not None), found)


def _inside_jit(state: Tracing, found: Culprit) -> Culprit:
    """The culprit; of a function that JAX has compiled the op inside of it that varies without compilation, too."""
    if not found.op.startswith(COMPILED) or state.clock.left <= 0:
        return found
    state.watch("which op of the compiled function?")
    one, other = state.run(Conditions(OPS, JIT_OFF.name, JIT_OFF.inside, JIT_OFF.env), 2)
    inner = next((seen for seen in culprits(one.recording, other.recording) if seen.path), None)
    if inner is None:
        return found._replace(note=f"{found.note}; {_WITHOUT} they were not seen to differ")
    if (inner.path, inner.line) == (found.path, found.line):
        return found
    note = f"{inner.note}, inside of {found.op} and {_WITHOUT}"
    return inner._replace(op=inner.op.removeprefix(COMPILED).removesuffix(")"), note=note)


def call(report: TraceReport) -> str:
    """A program that calls an op where the runs part, or that varies: first of one that no finding explains."""
    found = [*report.culprits, *(report.shadow.varying if report.shadow else ())]
    return next((one.call for one in sorted(found, key=lambda one: bool(one.finding)) if one.call), "")


def exit_code(report: TraceReport) -> int:
    """3: there is no verdict, or it was cut off; 1: the runs part; 0: they are equal as far as was looked."""
    if report.stopped or report.comparison.verdict not in (EQUAL, PART):
        return UNFINISHED
    return PARTED if report.comparison.verdict == PART else 0
