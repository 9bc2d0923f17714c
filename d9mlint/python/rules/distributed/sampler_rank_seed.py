"""A distributed sampler whose seed differs from rank to rank."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.taint import taint
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

SAMPLER = "torch.utils.data.DistributedSampler"
_SEED = Argument(4, "seed")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each such sampler."""
    for event in program.calls(SAMPLER):
        value = event.argument(_SEED)
        origins, _, sources = taint([value] if value is not None else [])
        if "rank" in origins:
            related = [Related(e.location, "the rank") for e in sources if e.location != event.location]
            yield draft(program, rule, event, related=related, last=event.raw.rpartition(".")[2])
