"""Thread pools resized after TensorFlow has started."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.tensorflow.threads import SETTERS
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_EAGER = ("tensorflow.random.uniform", "tensorflow.random.normal", "tensorflow.Variable", "tensorflow.zeros",
          "tensorflow.ones", "tensorflow.constant", "tensorflow.matmul", "keras.Model.fit", "keras.Model.predict",
          "keras.Model.evaluate", "tensorflow.config.list_logical_devices",
          "tensorflow.config.experimental.list_logical_devices")  # fmt: skip
"""Calls that surely start the eager runtime."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each setter that comes after an op in eager mode."""
    if program.calls("tensorflow.disable_eager_execution", "tensorflow.disable_v2_behavior"):
        return
    first = next((e for e in program.calls(*_EAGER) if _runs(e)), None)
    if first is None:
        return
    for event in program.calls(*SETTERS):
        if event.certain and event.index > first.index:
            related = [Related(first.location, "TensorFlow starts here")]
            yield draft(program, rule, event, related=related, name=event.raw.rpartition(".")[2], first=first.raw)


def _runs(event: Event) -> bool:
    return event.certain and not event.guards and not event.contexts and event.raw.find("compat.v1") < 0
