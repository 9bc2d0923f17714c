"""Horovod's tensor fusion left on."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import both, is_symbolic, negate
from d9mlint.python.frameworks.horovod import THRESHOLD, late_writes, wraps
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each wrapped optimizer or tape without groups while fusion is on."""
    for wrap in wraps(program):
        cond = both(wrap.fused, negate(wrap.grouped))
        if cond is not False and is_symbolic(cond):
            related = late_writes(program, THRESHOLD)
            yield draft(program, rule, wrap.event, cond=cond, related=related, last=wrap.event.raw.rpartition(".")[2])
