"""The data flow of ``d9mlint study``: a program -> runs of two groups -> spread of what they give in the end."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from d9mlint.app.machine import machine
from d9mlint.app.traced.programs import planned
from d9mlint.app.traced.stages import announced
from d9mlint.app.traced.state import TraceOptions, Watch, misled
from d9mlint.model import UsageError
from d9mlint.model.study import ALGO, IMPL, Spread, StudyReport
from d9mlint.trace import compare, study
from d9mlint.trace.run import STUDY, Clock, Conditions, Program, Run, Settings, run
from d9mlint.trace.switches import FIXED, SEEDED, SEEDS

UNFINISHED = 3


class StudyOptions(NamedTuple):
    """What the command line asks for."""

    program: TraceOptions
    metric: str = study.LAST_NUMBER
    runs: int = 10
    difference: float | None = None
    predictions: Path | None = None


@dataclass(slots=True)
class _Group:
    """The runs of one group, so far."""

    values: list[float] = field(default_factory=list)
    predictions: list[list[str]] = field(default_factory=list)
    weights: list[array[float]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Studying:
    """What is known so far, so that an interruption leaves a partial report."""

    program: Program
    options: StudyOptions
    groups: dict[str, _Group] = field(default_factory=lambda: {ALGO: _Group(), IMPL: _Group()})
    versions: set[tuple[str, str]] = field(default_factory=set)
    notes: set[str] = field(default_factory=set)
    stopped: str = ""

    def report(self) -> StudyReport:
        """The report on what was seen until now."""
        options = self.options
        spreads = tuple(_spread(name, one) for name, one in self.groups.items())
        known = [one.deviation for one in spreads if one.deviation is not None]
        total = math.sqrt(sum(one * one for one in known)) if len(known) == len(spreads) else None
        needed = None
        if options.difference is not None and total is not None:
            needed = study.needed(total, options.difference)
        return StudyReport(
            self.program.told, options.metric, options.runs, spreads, total,
            study.detectable(total, options.runs) if total is not None else None, options.difference, needed,
            study.curve(total, options.runs, options.difference),
            {**machine(), "versions": dict(sorted(self.versions))}, tuple(sorted(self.notes)), self.stopped,
        )  # fmt: skip


def begun(options: StudyOptions) -> Studying:
    """What is about to be studied.

    Raises:
        UsageError: the program is not there, or the metric is no expression.
    """
    study.reader(options.metric)
    if options.difference is not None and not 0 < options.difference < math.inf:
        raise UsageError("--difference: a number above zero")
    return Studying(planned(options.program), options)


def announcement(state: Studying) -> str:
    """What is about to be run, and where."""
    return announced(state.program, state.options.program, 2 * state.options.runs)


def studied(state: Studying, watch: Watch = lambda _: None) -> StudyReport:
    """Runs both groups in turns; Ctrl-C and the end of the time leave what was seen until then."""
    clock = Clock(state.options.program.time)
    metric = study.reader(state.options.metric)
    conditions = {
        ALGO: Conditions(STUDY, ALGO, (*SEEDED, *FIXED.inside), {**SEEDS.env, **FIXED.env}),
        IMPL: Conditions(STUDY, IMPL, SEEDED),  # (each process has a hash seed of its own, unless the user has set one)
    }
    try:
        for number in range(state.options.runs):
            for name, each in conditions.items():
                watch(f"{name}: run {number + 1} of {state.options.runs}")
                if clock.left <= 0:
                    state.stopped = f"no time was left after {number} runs of each group: --time"
                    return state.report()
                _ran(state, name, each, number, clock.left, metric)
    except KeyboardInterrupt:
        state.stopped = "interrupted"
    except OSError as error:
        state.stopped = f"cannot run {state.program.python}: {error.strerror or error}"
    return state.report()


def _ran(
    state: Studying, name: str, conditions: Conditions, number: int, seconds: float,
    metric: Callable[[str], float | None],
) -> None:  # fmt: skip
    options, group = state.options, state.groups[name]
    settings = Settings(options.program.steps, shift=number if name == ALGO else 0)
    ended = run(state.program, settings, conditions, number, seconds)
    state.versions.update(ended.recording.versions)
    state.notes.update(ended.recording.notes)
    value = metric(ended.text)
    if value is None or not ended.whole:
        why = "" if value is not None else ", and there is no metric in what it wrote"
        group.failed.append(f"a run {compare.ending(ended)}{why}")
        state.notes.update(misled(group.failed[-1], options.program))
        return
    group.values.append(value)
    if len(ended.weights):
        group.weights.append(ended.weights)
    lines = _predictions(ended, options.predictions)
    if lines:
        group.predictions.append(lines)


def _predictions(ended: Run, path: Path | None) -> list[str]:
    """The lines of the file that the run has written its predictions to; none where it has written none."""
    if path is None or str(path.absolute()) not in {str(Path(one).absolute()) for one in ended.wrote}:
        return []
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def _spread(name: str, group: _Group) -> Spread:
    values = tuple(group.values)
    return Spread(
        name, values, math.fsum(values) / len(values) if values else None, study.deviation(values),
        study.churn(group.predictions), study.distance(group.weights), tuple(dict.fromkeys(group.failed)),
    )  # fmt: skip


def exit_code(report: StudyReport) -> int:
    """3: cut off, or runs without a metric; else 0."""
    failed = any(one.failed or one.deviation is None for one in report.spreads)
    return UNFINISHED if report.stopped or failed else 0
