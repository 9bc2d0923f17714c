"""Groups of gradients that Horovod may still fuse with each other."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import both, is_symbolic, negate
from d9mlint.python.frameworks.horovod import NO_GROUP_FUSION, late_writes, variable, wraps
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each wrapped optimizer or tape with groups while groups are fused."""
    pinned = variable(program, NO_GROUP_FUSION, lambda n: n > 0)
    for wrap in wraps(program):
        cond = both(wrap.grouped, wrap.fused, negate(pinned))
        if cond is not False and is_symbolic(cond):
            related = late_writes(program, NO_GROUP_FUSION)
            yield draft(program, rule, wrap.event, cond=cond, related=related, last=wrap.event.raw.rpartition(".")[2])
