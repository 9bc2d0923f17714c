"""How far two runs lie apart step by step: in numbers of their type (ULP) and in L2."""

from __future__ import annotations

import math
from collections.abc import Sequence

from d9mlint.model import Apart
from d9mlint.trace.recording import Loss, Recording, Sample

MOST = 400
"""Steps that are told; of more some are left out, evenly."""
_FORMATS = {"float16": (11, -14), "bfloat16": (8, -126), "float32": (24, -126), "float64": (53, -1022)}
"""By type: bits of the significand, and the smallest exponent of a normal number (IEEE 754-2019, table 3.5)."""


def growth(one: Recording, other: Recording, parting: int) -> tuple[Apart, ...]:
    """The distance at each step that both runs came to; ``parting`` is never left out."""
    last = min(max(len(each.steps), len(each.losses)) for each in (one, other))
    every = max(1, math.ceil(last / MOST))
    losses = [{loss.before + 1: loss for loss in each.losses} for each in (one, other)]  # the last one of a step
    samples = [{sample.step: sample for sample in each.samples} for each in (one, other)]
    return tuple(
        _apart(step, [each.get(step) for each in losses], [each.get(step) for each in samples])
        for step in range(1, last + 1)
        if step % every == 0 or step in (1, parting, last)
    )


def _apart(step: int, losses: Sequence[Loss | None], samples: Sequence[Sample | None]) -> Apart:
    one, other = (math.nan if loss is None else float.fromhex(loss.value) for loss in losses)
    far = ulps(one, other, losses[0].dtype if losses[0] is not None else "")
    seen = (one if math.isfinite(one) else None, other if math.isfinite(other) else None)
    sample, sample2 = samples
    if sample is None or sample2 is None or len(sample.values) != len(sample2.values):
        return Apart(step, seen, far)
    between = [ulps(a, b, sample.dtype) for a, b in zip(sample.values, sample2.values, strict=True)]
    most = max(n for n in between if n is not None) if None not in between else None
    return Apart(step, seen, far, relative(sample.values, sample2.values), most)


def relative(one: Sequence[float], other: Sequence[float]) -> float | None:
    """The L2 between two vectors over that of the first; None where it is not finite."""
    size = math.sqrt(math.fsum(a * a for a in one)) if all(map(math.isfinite, one)) else 0.0
    if not size or not all(map(math.isfinite, other)):
        return None
    return math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(one, other, strict=True))) / size


def ulps(one: float, other: float, dtype: str) -> int | None:
    """How many numbers of a type further one number is than the other; None for what is not finite or not known."""
    if dtype not in _FORMATS or not (math.isfinite(one) and math.isfinite(other)):
        return None
    return abs(_index(one, *_FORMATS[dtype]) - _index(other, *_FORMATS[dtype]))


def _index(value: float, precision: int, least: int) -> int:
    """The place of a number among all of its type, zero's being 0."""
    if value == 0:
        return 0
    exponent = max(math.frexp(value)[1] - 1, least)
    inside = int(abs(math.ldexp(value, precision - 1 - exponent)))
    index = inside + ((exponent - least) << (precision - 1))
    return index if value > 0 else -index
