"""Datasets split over several workers."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.pipelines import DATASET
from d9mlint.python.program import Draft, Program
from d9mlint.python.values import Const

HAZARD = "before TensorFlow 2.2 NVIDIA advised not to shard, as the result was not reproducible"
SAFE = "reproducible since TensorFlow 2.2, if all that comes before it has the same order on each worker"


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each ``shard`` whose number of shards is not the constant 1."""
    if not program.uses_tensorflow:
        return
    old = program.target.fits("tensorflow", "<2.2")
    for event in program.calls(f"{DATASET}.shard"):
        number = event.args[0] if event.args else event.kwargs.get("num_shards")
        if isinstance(number, Const) and number.value == 1:
            continue
        cond = program.holds(event, {"num_shards@0": {"not": 1}})
        shown = "warning" if old else "info"
        yield program.draft(rule, event, cond=cond, severity=shown, state=HAZARD if old else SAFE)
