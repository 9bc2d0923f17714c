"""torch-determinism-off: a literal turns deterministic algorithms off, and nothing turns them on again."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, is_symbolic, truth
from d9mlint.python.frameworks.torch import gpu as torchgpu
from d9mlint.python.frameworks.torch.mode import torch_mode
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.ops.opuse import shown


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Every call with False after which the switch stays off."""
    asked = torch_mode(program).asked
    for one in asked:
        cond = both(one.off, torchgpu.on_gpu(program))
        if truth(cond, one.event.guards) is False or not is_symbolic(cond):
            continue
        if any(other.on is not False and other.event.index > one.event.index for other in asked):
            continue  # off around some ops only
        before = [a for a in asked if a.on is not False and a.event.index < one.event.index]
        yield draft(
            program,
            rule, one.event, cond=cond, name=shown(one.event),
            what="turns deterministic algorithms off from here on" if before else "leaves deterministic algorithms off",
            related=[Related(a.event.location, "they were on from here") for a in before[-1:]],
        )  # fmt: skip
