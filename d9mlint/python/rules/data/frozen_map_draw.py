"""Draws of Python and NumPy that tf.data traces into a constant."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.frameworks.tensorflow.pipelines import STAGES, stage_draws, when_any
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.rules.data._pipelines import cause


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each stage whose function draws while it is traced."""
    found = stage_draws(program)
    for stage in program.calls(*STAGES):
        draws = [d for d in found[stage.index] if d.kind == "frozen"]
        if draws:
            related = [Related(d.event.location, "is called once, while the function is traced") for d in draws]
            yield draft(
            program,
                rule, stage, cond=when_any(draws), related=dict.fromkeys(related),
                name=stage.name.rpartition(".")[2], draw=draws[0].name,
                cause=cause(rule, draws[0]),
            )  # fmt: skip
