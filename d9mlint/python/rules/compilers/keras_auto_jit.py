"""Keras 3 compiles with XLA by itself."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.conditions import both, is_symbolic, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.tensorflow.determinism import switch
from d9mlint.python.interpreter.program import Program, matches
from d9mlint.python.judging.drafts import Draft, draft

_JIT = Argument(None, "jit_compile")
_EAGER = Argument(None, "run_eagerly")
_NO_JIT = ("keras.layers.LSTM", "keras.layers.GRU", "keras.layers.Bidirectional")
"""cuDNN layers, for which Keras leaves XLA off."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each ``compile`` of a model that is trained, where neither it nor op determinism turns XLA off."""
    if _other_backend(program) or program.calls(*_NO_JIT) or not program.calls("keras.Model.fit", "?.fit"):
        return
    if any(e.name.endswith("Strategy") and e.kind == "call" for e in program.events):
        return  # with tf.distribute Keras leaves XLA off
    missing = negate(switch(program).on)
    for event in program.calls("keras.Model.compile"):
        cond = both(missing, _auto(event))
        if cond is not False and is_symbolic(cond):
            yield draft(program, rule, event, cond=cond)


def _auto(event: Event) -> bool:
    jit = event.argument(_JIT)
    return (jit is None or matches(jit, "auto") is True) and event.argument(_EAGER) is None


def _other_backend(program: Program) -> bool:
    legacy = any(e.raw.startswith("tf_keras") for e in program.events)
    return legacy or bool(program.env("KERAS_BACKEND", "TF_USE_LEGACY_KERAS"))
