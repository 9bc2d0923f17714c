"""triton-autotune: a Triton kernel whose configuration is chosen by timing."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.values import Seq
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_CONFIGS = Argument(0, "configs")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Each decorator with more than one configuration."""
    for event in program.calls("triton.autotune"):
        configs = event.argument(_CONFIGS)
        count = len(configs.items) if isinstance(configs, Seq) and configs.items is not None else None
        if count is None or count > 1:
            yield draft(program, rule, event, count="several" if count is None else count)
