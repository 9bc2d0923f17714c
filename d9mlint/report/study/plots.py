"""Plots of a study: the spread of each group, its shares, and how many runs a difference takes."""

from __future__ import annotations

import math
from typing import NamedTuple

from d9mlint.model.study import ALGO, Spread, StudyReport
from d9mlint.report import charts
from d9mlint.report.charts import Band, Chart, Dot, Line, Tick
from d9mlint.report.study import words
from d9mlint.report.words import count

_LANES = (0.73, 0.27)
"""Where the two groups lie, as shares of the height."""
_HALF = 0.17
_ROWS = 7
"""Dots that lie beside each other where values are alike."""


class Bar(NamedTuple):
    """A figure of one group, beside that of the other."""

    group: str
    kind: str
    percent: float
    told: str


class Figure(NamedTuple):
    """One measure of both groups; a bar without length is a zero, one that is missing was not seen."""

    title: str
    bars: tuple[Bar, ...]


def spread(report: StudyReport) -> Chart | None:
    """Each run's metric as a dot, by group, with mean and standard deviation."""
    groups = [(one, [value for value in one.values if math.isfinite(value)]) for one in report.spreads]
    values = [value for _, found in groups for value in found]
    if not values:
        return None
    pad = (max(values) - min(values)) * 0.06
    x, y = charts.across(min(values) - pad, max(values) + pad), charts.upwards(0, 1)
    dots: list[Dot] = []
    bands: list[Band] = []
    lines: list[Line] = []
    for (one, found), lane in zip(groups, _LANES, strict=True):
        kind = _kind(one)
        dots += _dots(x, y, found, lane, kind)
        if one.mean is not None and one.deviation is not None:
            low, high = (x.at(max(x.low, min(x.high, one.mean + sign * one.deviation))) for sign in (-1, 1))
            top = y.at(lane + _HALF)
            title = f"{one.group.upper()}: mean {one.mean:.6g}, standard deviation {one.deviation:.3g}"
            bands.append(Band(low, top, high - low, y.at(lane - _HALF) - top, kind, title))
            lines.append(charts.line((x, y), [(one.mean, lane - _HALF), (one.mean, lane + _HALF)], kind, title))
    desc = "; ".join(f"{one.group.upper()}: {words.metric(one)}" for one, found in groups if found)
    lanes = tuple(Tick(y.at(lane), one.group.upper()) for (one, _), lane in zip(groups, _LANES, strict=True))
    return Chart("spread", "The metric of each run", desc, f"metric: {report.metric}", x.ticks(), lanes, tuple(bands),
                 tuple(lines), tuple(dots))  # fmt: skip


def _kind(one: Spread) -> str:
    return "one" if one.group == ALGO else "other"


def _dots(x: charts.Axis, y: charts.Axis, values: list[float], lane: float, kind: str) -> list[Dot]:
    """Dots in a lane, side by side in a fixed pattern so that equal ones are seen."""
    offsets = [(n % _ROWS - _ROWS // 2) / _ROWS * _HALF * 1.6 for n in range(len(values))]
    return [
        Dot(x.at(value), y.at(lane + offset), kind, f"{value:.9g}")
        for value, offset in zip(values, offsets, strict=True)
    ]


def needed(report: StudyReport) -> Chart | None:
    """Runs of each variant over the difference that they show."""
    if len(report.curve) < 2:
        return None
    x = charts.across(report.curve[0][0], report.curve[-1][0], logarithmic=True)
    y = charts.upwards(2, max(3, *(runs for _, runs in report.curve)), logarithmic=True)
    points = [(difference, float(runs)) for difference, runs in report.curve]
    dots = []
    if report.detectable is not None and x.low <= report.detectable <= x.high:
        told = f"{count(report.asked, 'run')}: a difference of {report.detectable:.3g}"
        dots.append(Dot(x.at(report.detectable), y.at(report.asked), "one", told))
    if report.difference is not None and report.needed is not None:
        told = f"a difference of {report.difference:g}: {count(report.needed, 'run')}"
        dots.append(Dot(x.at(report.difference), y.at(report.needed), "other", told))
    mark = None
    if report.difference is not None:
        mark = Tick(x.at(report.difference), f"{report.difference:g}: {count(report.needed or 0, 'run')}")
    desc = "; ".join(dot.title for dot in dots)
    return Chart("needed", "Runs of each variant that a difference takes", desc, "difference of the means", x.ticks(),
                 y.ticks(), (), (charts.line((x, y), points, "one", desc),), tuple(dots), mark)  # fmt: skip


def figures(report: StudyReport) -> tuple[Figure, ...]:
    """Standard deviation, churn and distance of the weights, of both groups on one scale each."""
    found = []
    for title, key, told in (
        ("Standard deviation of the metric", "deviation", "{:.3g}"),
        ("Churn: predictions that differ between two runs", "churn", "{:.2%}"),
        ("L2 between the weights of two runs, relative to their own", "distance", "{:.3g}"),
    ):
        values = [(one, getattr(one, key)) for one in report.spreads]
        known = [value for _, value in values if value is not None]
        if known:
            most = max(known) or 1.0
            bars = [
                Bar(one.group.upper(), _kind(one), 100 * value / most, told.format(value))
                for one, value in values
                if value is not None
            ]
            found.append(Figure(title, tuple(bars)))
    return tuple(found)
