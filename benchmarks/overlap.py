"""How well runs of `verify`'s battery agree: the share of costs whose intervals overlap, pair by pair, and verdicts.

    d9mlint verify --all --framework torch --device cpu --python PY --format json --output a.json   # and b.json, ...
    python benchmarks/overlap.py a.json b.json [...]

At least 95 % are to overlap (each interval is one of 95 %: two of them of one truth do so far more often).
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
from pathlib import Path
from typing import Any

Cases = dict[tuple[object, ...], dict[str, Any]]


def cases(path: str) -> Cases:
    """The evidence of a report, by the case."""
    evidence = json.loads(Path(path).read_text(encoding="utf-8"))["evidence"]
    return {tuple(one[key] for key in ("op", "case", "direction", "execution", "dtype")): one for one in evidence}


def compared(first: Cases, second: Cases) -> tuple[int, int]:
    """How many costs both reports have, and how many of them are apart; these are printed."""
    both = apart = 0
    for key in sorted(first.keys() & second.keys(), key=str):
        one, other = first[key]["overhead"], second[key]["overhead"]
        if one is None or other is None:
            continue
        both += 1
        if one["low"] > other["high"] or other["low"] > one["high"]:
            apart += 1
            shown = [f"{cost['ratio']:.2f} ({cost['low']:.2f} to {cost['high']:.2f})" for cost in (one, other)]
            print(f"  apart: {key[0]}: {' and '.join(shown)}")
    for key in sorted(first.keys() & second.keys(), key=str):
        if first[key]["verdict"] != second[key]["verdict"]:
            print(f"  verdicts differ: {key[0]}: {first[key]['verdict']} and {second[key]['verdict']}")
    return both, apart


def main(paths: list[str]) -> None:
    """Compares all pairs of reports."""
    reports = {path: cases(path) for path in paths}
    total = wrong = 0
    for one, other in itertools.combinations(paths, 2):
        both, apart = compared(reports[one], reports[other])
        print(f"{one} and {other}: {both - apart} of {both} intervals overlap")
        total, wrong = total + both, wrong + apart
    widths = [o["high"] / o["low"] for r in reports.values() for e in r.values() if (o := e["overhead"]) is not None]
    if total:
        print(f"in all {100 * (total - wrong) / total:.1f} %; median width {statistics.median(widths):.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
