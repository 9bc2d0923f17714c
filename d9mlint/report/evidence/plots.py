"""Small plots of one case: numbers in, coordinates out; the template draws them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from d9mlint.model import Evidence, Observation, Overhead
from d9mlint.report.words import count

WIDTH, HEIGHT = 116.0, 40.0
"""Of every plot, in the units of its SVG."""
_PAD = 3.0
_NARROWEST = 3.0
"""The octaves left and right of 1 that the axis of costs has at least: an eighth to eight times."""


class Line(NamedTuple):
    """How many distinct results one process had given after each run."""

    points: str
    """For ``polyline``."""
    kind: str
    """``one`` (a single thread), ``default`` or ``deterministic``."""
    title: str


class Bar(NamedTuple):
    """How many elements lie so far from the first result."""

    x: float
    y: float
    width: float
    height: float
    title: str


class Span(NamedTuple):
    """The cost of deterministic mode on a logarithmic axis with 1 in the middle."""

    low: float
    ratio: float
    high: float
    one: float
    title: str


def distinct_lines(one: Evidence) -> tuple[Line, ...]:
    """A line for each process that answered; equal results are a flat line at the bottom."""
    answered = [seen for seen in one.observations if seen.results]
    runs = max((len(seen.results) for seen in answered), default=0)
    most = max((len(seen.digests) for seen in answered), default=0)
    return tuple(_line(seen, runs, most) for seen in answered)


def _line(seen: Observation, runs: int, most: int) -> Line:
    heights = accumulate((result + 1 for result in seen.results), max)
    points = " ".join(
        f"{_scaled(number, runs - 1, WIDTH):.1f},{HEIGHT - _scaled(height - 1, most - 1, HEIGHT):.1f}"
        for number, height in enumerate(heights)
    )
    kind = "deterministic" if seen.mode == "deterministic" else "one" if seen.threads == 1 else "default"
    threads = count(seen.threads, "thread") if seen.threads else "default threads"
    mode = "deterministic mode" if seen.mode == "deterministic" else "default mode"
    return Line(points, kind, f"{mode}, {threads}: {len(seen.digests)} distinct in {len(seen.results)} runs")


def _scaled(value: float, most: float, room: float) -> float:
    return _PAD + (value / most if most else 0.0) * (room - 2 * _PAD)


def distance_bars(counts: Sequence[int]) -> tuple[Bar, ...]:
    """A bar for 1, 2-3, 4-7 ... ULP; heights by the square root, so that few elements far away are still seen."""
    most = max(counts, default=0)
    if not most:
        return ()
    width = min((WIDTH - 2 * _PAD) / len(counts), 14.0)
    bars = []
    for number, elements in enumerate(counts):
        height = (HEIGHT - 2 * _PAD) * math.sqrt(elements / most)
        low, high = 2**number, 2 ** (number + 1) - 1
        title = f"{low if low == high else f'{low} to {high}'} ULP: {count(elements, 'element')}"
        bars.append(Bar(_PAD + number * width, HEIGHT - _PAD - height, width - 1, height, title))
    return tuple(bars)


def octaves(costs: Sequence[Overhead]) -> float:
    """How far the axis of costs reaches from 1, so that all fit."""
    ends = [abs(math.log2(end)) for cost in costs for end in (cost.low, cost.high) if end > 0]
    return max([_NARROWEST, *ends])


def cost_span(cost: Overhead, reach: float) -> Span:
    """Where the ratio and its interval lie on an axis of so many octaves to both sides."""

    def at(ratio: float) -> float:
        octave = max(-reach, min(reach, math.log2(ratio))) if ratio > 0 else -reach
        return _scaled(octave + reach, 2 * reach, WIDTH)

    title = f"{cost.ratio:.2f} times as long, 95 % interval {cost.low:.2f} to {cost.high:.2f}"
    return Span(at(cost.low), at(cost.ratio), at(cost.high), at(1.0), title)
