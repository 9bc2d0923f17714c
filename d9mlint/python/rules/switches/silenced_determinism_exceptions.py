"""silenced-determinism-exceptions: ops without a deterministic kernel run all the same."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import is_symbolic
from d9mlint.python.frameworks.tensorflow.determinism import setting
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_READ_BY = {
    "TF_DISABLE_SEGMENT_REDUCTION_OP_DETERMINISM_EXCEPTIONS": (">=2.5,<2.7", "segment reductions"),
    "TF_DISABLE_DEPTHWISE_CONV_DETERMINISM_EXCEPTIONS": (">=2.9,<2.10", "depthwise convolutions"),
}


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Every write that this version reads."""
    for name, (versions, ops) in _READ_BY.items():
        if not program.target.fits("tensorflow", versions):
            continue
        for event in program.env(name):
            cond = setting(event).on
            if cond is not False and is_symbolic(cond):
                yield draft(program, rule, event, cond=cond, name=name, ops=ops)
