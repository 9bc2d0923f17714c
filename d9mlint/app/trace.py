"""The data flow of ``d9mlint trace``: a program -> runs -> do they part? -> which switch decides? -> which line?"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from d9mlint.app.machine import machine
from d9mlint.app.options import shown
from d9mlint.app.trace_findings import explained
from d9mlint.model import Comparison, Culprit, SwitchTried, TracedRun, TraceReport, UsageError
from d9mlint.model.trace import EQUAL, FAILED, PART, UNTRIED
from d9mlint.trace import compare
from d9mlint.trace.explain import UNSEEN, culprits
from d9mlint.trace.run import OPS, VALUES, Clock, Conditions, Program, Run, Settings, run
from d9mlint.trace.switches import Switch, applying, with_seeds
from d9mlint.trace.values import first_difference

PARTED, UNFINISHED = 1, 3
_TRIES = 2
_MARGIN = 1.3
"""A pair of runs is begun where this many times the time of the first pair is left."""
_NOTHING = Comparison(FAILED, what="no runs were compared")
Watch = Callable[[str], None]


class TraceOptions(NamedTuple):
    """What the command line asks for."""

    script: Path | None = None
    module: str | None = None
    arguments: tuple[str, ...] = ()
    python: str | None = None
    runs: int = 2
    steps: int = 20
    time: float = 600.0
    config: Path | None = None


@dataclass(slots=True)
class Tracing:
    """What is known so far, so that an interruption leaves a partial report."""

    program: Program
    options: TraceOptions
    settings: Settings
    clock: Clock
    watch: Watch
    comparison: Comparison = _NOTHING
    switches: list[SwitchTried] = field(default_factory=list)
    culprits: tuple[Culprit, ...] = ()
    runs: list[Run] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stopped: str = ""

    def report(self) -> TraceReport:
        """The report on what was seen until now."""
        return TraceReport(
            " ".join((*self.program.words, *self.program.arguments)), self.comparison,
            compare.bound(self.comparison, self.options.runs), tuple(self.switches), self.culprits,
            {**machine(), "versions": _versions(self.runs)}, tuple(map(_told, self.runs)),
            (*_notes(self.runs), *self.notes), self.stopped, self.options.steps,
        )  # fmt: skip


def planned(options: TraceOptions) -> Program:
    """The program to run.

    Raises:
        UsageError: nothing or too much is named, or it is not there.
    """
    if (options.script is None) == (options.module is None):
        raise UsageError("name a script, or a module with -m")
    python = options.python or sys.executable
    if shutil.which(python) is None:
        raise UsageError(f"interpreter not found: {python}")
    cwd = os.getcwd()  # noqa: PTH109
    if options.script is None:
        return Program(python, ("-m", str(options.module)), options.arguments, (cwd,))
    if not options.script.is_file():
        raise UsageError(f"{'not a file' if options.script.exists() else 'path not found'}: {options.script}")
    folder = os.path.dirname(os.path.realpath(options.script))  # noqa: PTH120
    return Program(python, (str(options.script),), options.arguments, (cwd, folder))


def announcement(program: Program, options: TraceOptions) -> str:
    """What is about to be run, and where."""
    interpreter = options.python or "this interpreter"
    end = f", each at most to step {options.steps} of its optimizers" if options.steps else ""
    return (
        f"will run `{' '.join((*program.words, *program.arguments))}` at least {options.runs} times with {interpreter} "
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
    runs = _run(state, Conditions(), state.options.runs)
    state.comparison = compare.compared(runs)
    if state.comparison.verdict == FAILED:
        state.stopped = state.comparison.what
    if state.comparison.verdict == PART:
        state.watch("where do they part?")
        state.culprits = _located(state)
        state.watch("which switch decides?")
        _switched(state, runs)


def _switched(state: Tracing, runs: Sequence[Run]) -> None:
    """Two runs under each switch; where none decides, the seeds and each other one."""
    state.switches.append(SwitchTried("as is", "", state.comparison))
    uses = {name for one in runs for name in one.recording.uses}
    chosen = applying(tuple(uses))
    seconds = _MARGIN * sum(one.ended.seconds for one in runs[:2])
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
    found = compare.compared(_run(state, switch.conditions, 2))
    return SwitchTried(switch.name, switch.changes, found, found.verdict == EQUAL)


def _located(state: Tracing) -> tuple[Culprit, ...]:
    """Where two runs part, that are recorded op by op; tried again where these happen to be equal."""
    for _ in range(_TRIES):
        if state.clock.left <= 0:
            state.notes.append("no time was left to look where they part: --time")
            return ()
        one, other = _run(state, Conditions(OPS), 2)
        if not (one.whole and other.whole):
            state.notes.append("not all of the runs that were recorded op by op came to their end")
        found = culprits(one.recording, other.recording)
        if found:
            found = (_through_python(state, found[0]), *found[1:])
            cwd = Path.cwd()
            told = tuple(_placed(culprit, cwd) for culprit in found)
            script = _entry(state.options)
            return told if script is None else explained(told, script, state.options.config)
    state.notes.append("the runs that were recorded op by op did not part: the hashing may hide a race")
    return ()


def _through_python(state: Tracing, found: Culprit) -> Culprit:
    """The culprit; one that the ops do not explain is looked for in the program's variables."""
    if UNSEEN not in found.note:
        return found
    one, other = _run(state, Conditions(VALUES), 2)
    return first_difference(one.recording, other.recording, found) or found


def _entry(options: TraceOptions) -> Path | None:
    """The file that is run; of a module it is looked for from here only."""
    if options.script is not None:
        return options.script
    stem = Path(*str(options.module).split("."))
    return next((path for path in (stem.with_suffix(".py"), stem / "__main__.py") if path.is_file()), None)


def _placed(found: Culprit, cwd: Path) -> Culprit:
    """The culprit with its path as the user knows it, and the text of its line."""
    if not found.path:
        return found
    try:
        lines = Path(found.path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    source = lines[found.line - 1] if 0 < found.line <= len(lines) else ""
    return found._replace(path=shown(Path(found.path), cwd), source=source)


def _run(state: Tracing, conditions: Conditions, count: int) -> list[Run]:
    """So many runs under the same conditions."""
    runs: list[Run] = []
    for number in range(count):
        runs.append(run(state.program, state.settings, conditions, number, state.clock.left))
        state.runs.append(runs[-1])
    return runs


def _told(one: Run) -> TracedRun:
    return TracedRun(
        one.conditions.stage, one.conditions.switch or "as is", one.number + 1, len(one.recording.steps),
        compare.ending(one), tuple(shown(Path(path), Path.cwd()) for path in sorted(one.wrote)), not one.whole,
    )  # fmt: skip


def _versions(runs: Sequence[Run]) -> dict[str, str]:
    return dict(sorted({pair for one in runs for pair in one.recording.versions}))


_UNKNOWN = {"tensorflow": "TensorFlow", "jax": "JAX"}


def _notes(runs: Sequence[Run]) -> list[str]:
    """What is to be known about the first runs, which answer whether they part."""
    first = [one for one in runs if not one.conditions.switch and one.conditions.stage == "light"]
    if not first:
        return []
    cwd = Path.cwd()
    notes = [
        f"run 2 read `{shown(Path(path), cwd)}`, which an earlier run had written: the runs did not start alike"
        for path in compare.left_for_the_next(first)
    ]
    notes += [f"the runs wrote `{shown(Path(path), cwd)}` differently" for path in compare.differing_files(first)]
    used = {name for one in first for name in one.recording.uses}
    notes += [
        f"{title} is not recorded yet: only what PyTorch does, the output and the files are compared"
        for name, title in _UNKNOWN.items()
        if name in used
    ]
    if not all(one.searched for one in first):
        notes.append("the working directory holds too many files: not all were looked at for what the runs wrote")
    return notes + sorted({note for one in first for note in one.recording.notes})


def exit_code(report: TraceReport) -> int:
    """3: there is no verdict, or it was cut off; 1: the runs part; 0: they are equal as far as was looked."""
    if report.stopped or report.comparison.verdict not in (EQUAL, PART):
        return UNFINISHED
    return PARTED if report.comparison.verdict == PART else 0
