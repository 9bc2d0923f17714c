"""Two runs side by side along their steps, and how far they lie apart: coordinates for the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from d9mlint.model import Apart, TraceReport
from d9mlint.model.trace import PART
from d9mlint.report import charts
from d9mlint.report.charts import Chart, Dot, Tick

_FIRST, _LAST = 4.0, 96.0
"""Of the width, in percent, so that words keep their size on any screen."""
_LABELS = 6
_FORK = 2.5
_MOST_DOTS = 60


class Timeline(NamedTuple):
    """Where the lines of two runs go, in percent of the width."""

    fork: float | None
    """Where they part; None for runs that are equal."""
    bend: float
    """Where both are on their own lines."""
    ends: tuple[float, float]
    ticks: tuple[Tick, ...]
    label: str
    """What stands at the fork."""
    anchor: str
    desc: str


def timeline(report: TraceReport) -> Timeline | None:
    """The first run and the one that it was held against; None where there are no two."""
    found = report.comparison
    first = [one for one in report.runs if (one.stage, one.switch) == ("light", "as is")][: len(report.runs)]
    if len(first) < 2:
        return None
    steps = (first[0].steps, max(one.steps for one in first[1:2]))
    last = max(*steps, found.step or 0)
    ends = (_at(steps[0], last), _at(steps[1], last)) if last else (_LAST, _LAST)
    ticks = tuple(Tick(_at(step, last), str(step)) for step in _labelled(last))
    if found.verdict != PART:
        desc = f"Both runs are equal up to step {found.steps}." if found.steps else "No difference was seen."
        return Timeline(None, _LAST, ends, ticks, "", "middle", desc)
    fork = _at(found.step, last) if found.step else (_FIRST + _LAST) / 2 if not last else _at(found.steps, last)
    label = f"step {found.step}" if found.step else "they part" if last else "they part at a point that no step tells"
    anchor = "start" if fork < 30 else "end" if fork > 70 else "middle"
    desc = f"The runs are equal for {found.steps} steps, then they part: {found.what}."
    bend = min(fork + _FORK, 100 - _FIRST / 2)
    return Timeline(fork, bend, (max(ends[0], bend), max(ends[1], bend)), ticks, label, anchor, desc)


def _at(step: int, last: int) -> float:
    return _FIRST + (step / last if last else 1.0) * (_LAST - _FIRST)


def _labelled(last: int) -> list[int]:
    """Steps that are named below the lines."""
    if not last:
        return []
    every = max(1, math.ceil(last / _LABELS))
    return [*range(0, last + 1, every)]


def growths(report: TraceReport) -> tuple[Chart, ...]:
    """How the distance grows from the step at which the runs part: one plot for each measure that was seen."""
    if len(report.growth) < 2:
        return ()
    loss = [(one.step, float(one.loss_ulp)) for one in report.growth if one.loss_ulp is not None]
    far = [(one.step, one.l2) for one in report.growth if one.l2 is not None]
    ulp = [(one.step, float(one.ulp)) for one in report.growth if one.ulp is not None]
    found = (
        _losses(report),
        _growth(report, "loss-ulp", "Distance of the losses, in ULP", loss),
        _growth(report, "l2", "Distance of the parameters, L2 relative to their own", far),
        _growth(report, "ulp", "Largest distance of a parameter, in ULP", ulp),
    )
    return tuple(one for one in found if one is not None)


def _steps(report: TraceReport) -> charts.Axis:
    return charts.across(report.growth[0].step, report.growth[-1].step)


def _mark(report: TraceReport) -> Tick | None:
    step = report.comparison.step
    return Tick(_steps(report).at(step), f"parts at {step}") if step else None


def _growth(report: TraceReport, key: str, title: str, points: Sequence[tuple[int, float]]) -> Chart | None:
    if not points or not any(value for _, value in points):
        return None
    x, y = _steps(report), charts.from_zero([value for _, value in points])
    step, value = points[-1]
    desc = f"{charts.short(value)} at step {step}, the most is {charts.short(max(value for _, value in points))}."
    dots = _dots(x, y, points, "one") if len(points) <= _MOST_DOTS else ()
    return Chart(
        key, title, desc, "step", charts.counted(x), y.ticks(), (), (charts.line((x, y), points, "one", desc),), dots,
        _mark(report),
    )  # fmt: skip


def _dots(x: charts.Axis, y: charts.Axis, points: Sequence[tuple[int, float]], kind: str) -> tuple[Dot, ...]:
    return tuple(Dot(x.at(a), y.at(b), kind, f"step {a}: {charts.short(b)}") for a, b in points)


def _losses(report: TraceReport) -> Chart | None:
    """Both losses; where one is not a number its line ends."""
    several = [[(one.step, value) for one in report.growth if (value := one.losses[n]) is not None] for n in (0, 1)]
    values = [value for points in several for _, value in points]
    if not values or not all(several):
        return None
    x, y = _steps(report), charts.upwards(min(values), max(values))
    lines = tuple(
        charts.line((x, y), points, kind, f"run {number}")
        for number, (points, kind) in enumerate(zip(several, ("one", "other"), strict=True), 1)
    )
    return Chart("losses", "Losses of both runs", _between(report.growth), "step", charts.counted(x), y.ticks(), (),
                 lines, (), _mark(report))  # fmt: skip


def _between(growth: Sequence[Apart]) -> str:
    one, other = growth[-1].losses
    if one is None or other is None:
        return "The last loss is not finite, or was not seen."
    return f"At step {growth[-1].step} they are {one:.9g} and {other:.9g}."
