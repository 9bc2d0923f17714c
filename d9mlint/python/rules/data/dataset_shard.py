"""Datasets split over several workers."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const
from d9mlint.python.frameworks.tensorflow.pipelines import DATASET, upstream
from d9mlint.python.frameworks.used import uses_tensorflow
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.rules.data import shuffle_before_shard

HAZARD = "before TensorFlow 2.2 NVIDIA advised not to shard, as the result was not reproducible"
_SEEDS = {f"{DATASET}.shuffle": Argument(1, "seed"), f"{DATASET}.list_files": Argument(2, "seed")}
SAFE = "reproducible since TensorFlow 2.2, if all that comes before it has the same order on each worker"


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each ``shard`` whose number of shards is not the constant 1."""
    if not uses_tensorflow(program):
        return
    old = program.target.fits("tensorflow", "<2.2")
    shuffled = set() if old else {draft.location for draft in shuffle_before_shard.check_program(program, rule)}
    for event in program.calls(f"{DATASET}.shard"):
        number = event.args[0] if event.args else event.kwargs.get("num_shards")
        if (isinstance(number, Const) and number.value == 1) or event.location in shuffled:
            continue
        if not old and any(_reorders(program, e) for e in upstream(program, event, *_SEEDS)):
            continue  # not the same order on each worker, or only by a seed that this place does not show
        cond = program.holds(event, {"num_shards@0": {"not": 1}})
        yield draft(program, rule, event, cond=cond, state=HAZARD if old else SAFE)


def _reorders(program: Program, event: Event) -> bool:
    """Whether a stage shuffles, or may, without a seed of its own."""
    listed = event.name.endswith("list_files") and program.holds(event, {"shuffle@1": False}) is True
    return not listed and program.absent(event, _SEEDS[event.name]) is True
