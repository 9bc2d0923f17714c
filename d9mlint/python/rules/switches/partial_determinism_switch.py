"""partial-determinism-switch: TF_CUDNN_DETERMINISTIC alone."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, is_symbolic, negate, truth
from d9mlint.python.frameworks.jax import mode as jaxmode
from d9mlint.python.frameworks.tensorflow.determinism import setting, switch
from d9mlint.python.frameworks.tensorflow.devices import on_gpu
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.ops.opuse import Use, shown, uses

_COVERED = ("tf.nn.conv", "tf.nn.max_pool", "tf.keras.layers.MaxPool")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Each write of the variable, while the full switch is off."""
    if not program.trains or _is_of_jax(program):
        return
    state = switch(program)
    left = [u for u in uses(program) if _uncovered(u)]
    related = [Related(u.event.location, f"the {u.effect} of `{shown(u.event)}` still varies") for u in left[:3]]
    for event in state.partial:
        cond = both(setting(event).on, negate(state.on), on_gpu(program))
        if truth(cond, event.guards) is not False and is_symbolic(cond):
            example = f"`{shown(left[0].event)}`" if left else "bias gradients"
            yield draft(program, rule, event, cond=cond, related=related, example=example)


def _is_of_jax(program: Program) -> bool:
    """Whether JAX alone trains, which reads no variable of TensorFlow's: `ignored-determinism-variable` tells that."""
    return frameworks_of(program)[:1] == ("jax",) and not jaxmode.reads_cudnn(program)


def _uncovered(use: Use) -> bool:
    return use.status.default == "varies" and not use.op.name.startswith(_COVERED) and not use.event.detached
