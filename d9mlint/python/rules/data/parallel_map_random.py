"""Random draws inside parallel stages of tf.data."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, is_symbolic
from d9mlint.python.frameworks.tensorflow.pipelines import STAGES, disorder, is_parallel, stage_draws, when_any
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.rules.data._pipelines import cause, confidence


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each stage with several calls in flight that draw once per element."""
    found = stage_draws(program)
    disordered = disorder(program)
    for stage in program.calls(*STAGES):
        draws = [d for d in found[stage.index] if d.kind != "frozen"]
        if not draws or not is_parallel(stage):
            continue
        several = program.holds(stage, {"num_parallel_calls@1": {"not": 1}}) if stage.name.endswith(".map") else True
        # A number that is not known was written to have several calls; only a flag can say otherwise.
        cond = both(disordered, several if is_symbolic(several) else True)
        sure = confidence(rule, stage, cond)
        if sure:
            related = [Related(d.event.location, "draws here") for d in draws if d.event is not stage]
            yield draft(
            program,
                rule, stage, cond=both(cond, when_any(draws)), confidence=sure, related=dict.fromkeys(related),
                name=stage.name.rpartition(".")[2], draw=draws[0].name,
                cause=cause(rule, draws[0]),
            )  # fmt: skip
