"""missing-cudnn-frontend: TensorFlow 2.5 to 2.7 need a second variable for deterministic convolutions."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import both, either, is_symbolic, negate, truth
from d9mlint.python.frameworks.tensorflow.determinism import (
    FRONTEND_VARIABLE,
    FWR13Y,
    setting,
    switch,
    turned_on,
)
from d9mlint.python.frameworks.tensorflow.devices import on_gpu
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.ops.opuse import shown


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first event that turns the switch on."""
    if program.target.version("ngc") is not None or not _convolves(program):
        return
    frontend = either(*(both(*e.guards, setting(e).on) for e in program.env(FRONTEND_VARIABLE) if not e.detached))
    for event in switch(program).events:
        cond = both(turned_on(event), negate(frontend), on_gpu(program))
        if truth(cond, event.guards) is False or not is_symbolic(cond):
            continue
        name = f"{shown(event)}()" if event.name == FWR13Y else event.name
        yield draft(program, rule, event, cond=cond, name=name)
        return


def _convolves(program: Program) -> bool:
    """Whether the model convolves, or cannot be seen at all."""
    calls = (e.name for e in program.events if e.kind == "call")
    layers = [name.lower() for name in calls if name.startswith(("keras.", "tensorflow."))]
    if any("conv" in name or name.startswith("keras.applications.") for name in layers):
        return True
    return bool(program.trains) and not any(name.startswith(("keras.layers.", "tensorflow.layers.")) for name in layers)
