"""Plots of pages: numbers in, coordinates out; ``charts.html.j2`` draws them, without a script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 360.0, 200.0
"""Of a plot in the units of its SVG, which are pixels on a telephone."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 12.0, 12.0, 40.0
_TICKS = 5
_DIGITS, _SMALL, _LARGE = 7, 1e-3, 1e5
"""Digits behind the point, and the numbers from and up to which they are written without an exponent."""
_ALIKE = 1e-12
"""The extent of an axis, relative to its numbers, below which no ticks tell them apart."""
_ZERO = 0.12
"""The share of a logarithmic axis that is left to zero."""


class Tick(NamedTuple):
    """A number at an axis."""

    at: float
    label: str


class Line(NamedTuple):
    """A line through points."""

    points: str
    """For ``polyline``."""
    kind: str
    """A class of the style sheet: ``one`` or ``other``."""
    title: str


class Dot(NamedTuple):
    """A mark at a point."""

    x: float
    y: float
    kind: str
    title: str


class Band(NamedTuple):
    """A shaded rectangle."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    title: str


class Chart(NamedTuple):
    """A plot; ``key`` makes the names of its parts unique in the page."""

    key: str
    title: str
    desc: str
    across: str
    """What the horizontal axis is about."""
    xs: tuple[Tick, ...]
    ys: tuple[Tick, ...]
    bands: tuple[Band, ...] = ()
    lines: tuple[Line, ...] = ()
    dots: tuple[Dot, ...] = ()
    mark: Tick | None = None
    """A vertical line with its words."""


class Axis(NamedTuple):
    """From numbers to coordinates."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False
    zero: bool = False
    """Whether a logarithmic axis begins with a place for zero."""

    def at(self, value: float) -> float:
        """The coordinate of a number."""
        if not self.logarithmic:
            share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
            return self.start + share * (self.end - self.start)
        if value <= 0:
            return self.start
        inside = math.log(value / self.low) / math.log(self.high / self.low) if self.high > self.low else 0.5
        first = _ZERO if self.zero else 0.0
        return self.start + (first + (1 - first) * inside) * (self.end - self.start)

    def ticks(self) -> tuple[Tick, ...]:
        """Round numbers along the axis."""
        if not self.logarithmic:
            return tuple(Tick(self.at(value), label) for value, label in _round(self.low, self.high))
        zero = (Tick(self.start, "0"),) if self.zero else ()
        return (*zero, *(Tick(self.at(value), short(value)) for value in _powers(self.low, self.high)))


def across(low: float, high: float, *, logarithmic: bool = False) -> Axis:
    """A horizontal axis."""
    return Axis(low, high, _LEFT, WIDTH - _RIGHT, logarithmic)


def upwards(low: float, high: float, *, logarithmic: bool = False, zero: bool = False) -> Axis:
    """A vertical axis."""
    return Axis(low, high, HEIGHT - _BOTTOM, _TOP, logarithmic, zero)


def from_zero(values: Sequence[float]) -> Axis:
    """A vertical logarithmic axis for numbers of which some are zero."""
    positive = [value for value in values if value > 0]
    low, high = min(positive, default=1.0), max(positive, default=1.0)
    return upwards(low, max(high, low * 10), logarithmic=True, zero=True)


def line(axes: tuple[Axis, Axis], points: Sequence[tuple[float, float]], kind: str, title: str) -> Line:
    """The line through points, as ``axes`` place them."""
    x, y = axes
    return Line(" ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in points), kind, title)


def _round(low: float, high: float) -> list[tuple[float, str]]:
    """Multiples of 1, 2 or 5 times a power of ten, with as many digits as tell them apart."""
    if high - low <= _ALIKE * max(abs(low), abs(high)):
        return [(low, f"{low:.6g}")]
    rough = (high - low) / _TICKS
    power = math.floor(math.log10(rough))
    step = next(factor * 10.0**power for factor in (1, 2, 5, 10) if factor * 10.0**power >= rough * 0.999)
    values = [n * step for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    plain = digits <= _DIGITS and abs(high) < _LARGE
    return [(value, f"{value:.{digits}f}" if plain else f"{value:.8g}") for value in values]


def _powers(low: float, high: float) -> list[float]:
    """Powers of ten, as few as fit; where there are fewer than two, the ends."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    every = max(1, math.ceil((last - first + 1) / _TICKS))
    found = [10.0**n for n in range(first, last + 1, every)]
    return found if len(found) > 1 else [low, high] if high > low else [low]


def counted(axis: Axis) -> tuple[Tick, ...]:
    """The ticks of an axis that counts: whole numbers only."""
    return tuple(
        Tick(axis.at(value), f"{value:.0f}") for value, _ in _round(axis.low, axis.high) if value == int(value)
    )


def short(value: float) -> str:
    """A number at an axis."""
    if not value or _SMALL <= abs(value) < _LARGE:
        return f"{value:.4g}"
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    return f"{float(mantissa):g}e{int(exponent)}"
