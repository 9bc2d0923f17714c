"""warn-only-determinism: deterministic algorithms are asked for, but ops without one only warn."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, is_symbolic, truth
from d9mlint.python.frameworks.torch import gpu as torchgpu
from d9mlint.python.frameworks.torch.mode import torch_mode
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.ops.opcalls import call_of
from d9mlint.python.judging.ops.opuse import Use, shown
from d9mlint.python.rules.switches import _missing_switch

_ATTENTION = "scaled_dot_product_attention"
"""Its fused kernels stay as they are where there is only a warning (notes/randomness.md)."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Each such call; a warning where the program uses an op that is left to vary."""
    likely = _missing_switch.likely(rule)
    for one in torch_mode(program).asked:
        cond = both(one.warns, torchgpu.on_gpu(program))
        if cond is False or truth(cond, one.event.guards) is False or not is_symbolic(cond):
            continue
        left = _missing_switch.varying(program, lambda use: likely(use) and _stays(use))
        yield draft(
            program,
            rule, one.event, cond=cond, name=shown(one.event), severity="" if left else "info",
            what=_missing_switch.listed(left) if left else "what has no deterministic algorithm",
            of_calls=[call_of(program, use) for use in left],
            related=[Related(u.event.location, f"the {u.effect} of `{shown(u.event)}` still varies") for u in left],
        )  # fmt: skip


def _stays(use: Use) -> bool:
    return use.op.framework == "torch" and (use.status.deterministic_mode == "raises" or _ATTENTION in use.op.name)
