"""In which order processes are timed, and for how long, so that what else the machine does weighs little."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from d9mlint.verify.process import ChildFailed

PAIRS = 3
"""Processes of either mode that are timed. Memory lies elsewhere in each, so that the same op takes a few per cent more
or less: one pair says nothing of the next one."""
_ROUNDS, _FEWEST = 8, 2
"""In each, every process is visited once, in an order that is drawn anew."""
_AGAIN = 24
"""Further rounds, while there is time, of the processes that stand out."""
_APART = 1.05
"""So much longer than in the quickest process of its mode a run takes in one that stands out."""
_VISIT = 0.015
"""Seconds that a process is timed in a visit."""
SEED = 0
"""The order is drawn from it and the name of the case."""


class Times(NamedTuple):
    """Seconds of a run: in each process of a mode, in each of its visits."""

    default: tuple[tuple[float, ...], ...]
    deterministic: tuple[tuple[float, ...], ...]


NEVER = Times((), ())


def visit(seconds: float) -> float:
    """The seconds of a visit, where a case may take so many in one process."""
    return min(_VISIT, seconds / (_ROUNDS + _AGAIN))


def timed(modes: Mapping[int, str], ask: Callable[[int], float], key: str, patience: float) -> Times:
    """Visits processes, given by number and mode, in rounds; one that fails is left out.

    What drifts slowly weighs on both modes alike.
    """
    seconds: dict[int, list[float]] = {number: [] for number in modes}
    draw = random.Random(f"{SEED} {key}")
    end = time.monotonic() + patience
    for done in range(_ROUNDS + _AGAIN):
        if done >= _FEWEST and time.monotonic() > end:
            break
        asked = sorted(seconds) if done < _ROUNDS else standing_out(seconds, modes)
        for number in draw.sample(asked, len(asked)):
            try:
                seconds[number].append(ask(number))
            except ChildFailed:
                del seconds[number]  # no time of it; what was observed stands
    kinds = ("default", "deterministic")
    return Times(*(tuple(tuple(seconds[number]) for number in seconds if modes[number] == kind) for kind in kinds))


def standing_out(seconds: Mapping[int, Sequence[float]], modes: Mapping[int, str]) -> list[int]:
    """The processes in which a run takes longer than in another one of their mode.

    Either they are like that, or the machine was busy whenever it was their turn: more visits tell.
    """
    least = {number: min(visits) for number, visits in seconds.items()}
    best: dict[str, float] = {}
    for number, shortest in least.items():
        best[modes[number]] = min(shortest, best.get(modes[number], shortest))
    return [number for number in sorted(least) if least[number] > _APART * best[modes[number]]]
