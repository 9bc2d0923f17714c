"""How often `d9mlint trace` names the planted line of each program in tests/trace/programs, with a 95 % interval.

    python benchmarks/planted.py INTERPRETER [--frameworks torch,jax] [--repetitions 20] [--seconds S] [--programs A,B]
        [--jobs N]

`cuda` and `cuda_jax` are frameworks of their own: programs whose cause is one of a GPU, so that they part on one alone.

The interpreter must have the frameworks. Each repetition records two runs of the program (four where a difference comes
out of plain Python) and, with ``--fixed``, two of its cured twin, in which nothing may be named. Repetitions go over
all programs in turn, so that an early end (``--seconds``, Ctrl-C) leaves about as many of each. Races of threads may
not show on few cores: their runs then do not part ("nothing"), which counts as not named. ``--jobs`` runs so many
repetitions side by side: they disturb each other, as other users of a machine do.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "trace"))
from planted import FRAMEWORKS, located, planted, programs

_NORMAL = 1.959964
"""The 97.5 % quantile of the normal distribution."""
RIGHT, NOTHING, WRONG, FAILED, CLEAN = "right", "nothing", "wrong", "failed", "clean"


def interval(right: int, total: int) -> tuple[float, float]:
    """Wilson's score interval for a rate."""
    if not total:
        return 0.0, 1.0
    rate, square = right / total, _NORMAL**2
    centre = (rate + square / (2 * total)) / (1 + square / total)
    half = _NORMAL * math.sqrt(rate * (1 - rate) / total + square / (4 * total**2)) / (1 + square / total)
    return max(0.0, centre - half), min(1.0, centre + half)


def named(python: str, path: Path) -> tuple[str, str]:
    """What became of one repetition, and what was named instead."""
    try:
        found = located(python, path)
    except AssertionError as error:
        return FAILED, str(error)
    if not found:
        return NOTHING, "the runs did not part"
    first = found[0]
    good = (first.path, first.line, first.kind) == (str(path), *planted(path))
    return (RIGHT, "") if good else (WRONG, f"line {first.line}, {first.kind} {first.op}: {first.note}")


def clean(python: str, path: Path) -> tuple[str, str]:
    """What became of the cured twin, and what was named."""
    try:
        found = located(python, path, "--fixed")
    except AssertionError as error:
        return FAILED, str(error)
    return (CLEAN, "") if not found else (WRONG, f"line {found[0].line}, {found[0].kind} {found[0].op}")


_Became = tuple[tuple[str, str], tuple[str, str]]
"""What became of a program, and of its twin."""


def _tried(python: str, path: Path, end: float) -> _Became | None:
    """One repetition; None where the time is over."""
    return None if time.monotonic() > end else (named(python, path), clean(python, path))


def _in_turn(python: str, asked: list[Path], end: float, jobs: int) -> Iterator[tuple[Path, _Became | None]]:
    """What became of each as it ends; each job is a process of its own, as a folder of its own is gone into."""
    if jobs < 2:
        yield from ((path, _tried(python, path, end)) for path in asked)
        return
    with ProcessPoolExecutor(jobs) as pool:
        begun = {pool.submit(_tried, python, path, end): path for path in asked}
        yield from ((begun[one], one.result()) for one in as_completed(begun))


def table(counts: dict[Path, Counter[str]], twins: dict[Path, Counter[str]]) -> list[str]:
    """A line for each program, and one for all together."""
    lines = []
    for path, several in counts.items():
        total, twin = sum(several.values()), twins[path]
        low, high = interval(several[RIGHT], total)
        others = ", ".join(f"{number} {name}" for name, number in sorted(several.items()) if name != RIGHT)
        lines.append(
            f"{path.parent.name + '/' + path.stem:32} {several[RIGHT]:3} of {total:3}  {low:4.0%} to {high:4.0%}  "
            f"twin clean {twin[CLEAN]:3} of {sum(twin.values()):3}  {others}".rstrip()
        )
    all_, twin = sum(counts.values(), Counter()), sum(twins.values(), Counter())
    low, high = interval(all_[RIGHT], sum(all_.values()))
    lines.append(f"{all_[RIGHT]} of {sum(all_.values())} causes named right ({low:.1%} to {high:.1%}), "
                 f"{twin[CLEAN]} of {sum(twin.values())} twins without one; {os.cpu_count()} cores")  # fmt: skip
    return lines


def main() -> None:
    """Prints what is not right as it comes, then the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("python")
    parser.add_argument("--frameworks", default=",".join(FRAMEWORKS))
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--programs", default="")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    wanted = set(filter(None, asked.programs.split(",")))
    paths = [one for name in asked.frameworks.split(",") for one in programs(name) if not wanted or one.stem in wanted]
    counts = {path: Counter[str]() for path in paths}
    twins = {path: Counter[str]() for path in paths}
    end = time.monotonic() + asked.seconds
    try:
        for path, several in _in_turn(asked.python, paths * asked.repetitions, end, asked.jobs):
            if several is None:
                continue
            for told, (how, what) in zip((counts, twins), several, strict=True):
                told[path][how] += 1
                if what:
                    twin = " (twin)" if told is twins else ""
                    print(f"{path.stem}{twin}, repetition {counts[path].total()}: {how}: {what}", flush=True)
    except KeyboardInterrupt:
        print("ended early")
    print("\n".join(table(counts, twins)), flush=True)


if __name__ == "__main__":
    main()
