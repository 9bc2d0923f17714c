"""cudnn-autotune-variable: TF_CUDNN_USE_AUTOTUNE is set, or a name like it that TensorFlow does not read."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, either, truth
from d9mlint.python.frameworks.tensorflow.determinism import partly_on, switch
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

AUTOTUNE = "TF_CUDNN_USE_AUTOTUNE"
_NOT_READ = "TF_USE_CUDNN_AUTOTUNE"
"""What NVIDIA's guide calls it by mistake: tensorflow/core/util/use_cudnn.cc reads the other one."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """A warning where the program asks for deterministic ops, else only a remark."""
    state = switch(program)
    on = either(state.on, partly_on(program))
    switches = (*state.events, *state.partial)
    for event in program.env(_NOT_READ):
        yield draft(
            program,
            rule, event, severity="info", name=_NOT_READ, remedy=f"delete the line, and leave {AUTOTUNE} unset, too",
            effect=f"does nothing: the variable that TensorFlow reads is `{AUTOTUNE}`",
        )  # fmt: skip
    for event in program.env(AUTOTUNE):
        asked = truth(both(*event.guards, on), event.guards) is not False
        yield draft(
            program,
            rule, event, severity="" if asked else "info",
            related=[Related(e.location, "deterministic ops are asked for here") for e in switches],
            name=AUTOTUNE,
            effect="interferes with the deterministic choice of cuDNN algorithms" if asked
            else "does not make cuDNN deterministic, and must go when deterministic ops are switched on",
        )  # fmt: skip
