"""cudnn-autotune-variable: TF_USE_CUDNN_AUTOTUNE is set."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, either, truth
from d9mlint.python.frameworks.tensorflow.determinism import partly_on, switch
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """A warning where the program asks for deterministic ops, else only a remark."""
    state = switch(program)
    on = either(state.on, partly_on(program))
    for event in program.env("TF_USE_CUDNN_AUTOTUNE"):
        asked = truth(both(*event.guards, on), event.guards) is not False
        switches = (*state.events, *state.partial)
        yield draft(
            program,
            rule, event, severity="" if asked else "info",
            related=[Related(e.location, "deterministic ops are asked for here") for e in switches],
            effect="interferes with the deterministic choice of cuDNN algorithms" if asked
            else "does not make cuDNN deterministic, and must go when deterministic ops are switched on",
        )  # fmt: skip
