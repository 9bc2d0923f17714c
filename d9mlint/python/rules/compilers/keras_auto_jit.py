"""Keras 3 compiles with XLA by itself."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import is_symbolic, negate
from d9mlint.python.frameworks.tensorflow.compilers import leaves_to_keras
from d9mlint.python.frameworks.tensorflow.determinism import switch
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each ``compile`` of a model that is trained, where neither it nor op determinism turns XLA off."""
    if not program.calls("keras.Model.fit", "?.fit"):
        return
    missing = negate(switch(program).on)
    for event in leaves_to_keras(program):
        if missing is not False and is_symbolic(missing):
            yield draft(program, rule, event, cond=missing)
