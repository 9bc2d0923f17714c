"""Draws of Python and NumPy that ``tf.function`` traces into a constant."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.pipelines import draws_on_host
from d9mlint.python.program import Draft, Program

_PYTHON = ("py_function", "tfdata", "tfdata-parallel", "generator", "thread", "process")
"""Contexts that run as Python, or that another rule speaks of."""
_BUILDS = ("keras.layers.", "keras.initializers.", "keras.applications.", "keras.models.")
"""A layer that is made while tracing draws its weights once in any case (Keras 3 takes their seeds from ``random``)."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each draw inside a traced function."""
    for event in program.events:
        if event.kind != "call" or not event.inside("traced") or event.inside(*_PYTHON):
            continue
        if draws_on_host(event) and not event.name.startswith(_BUILDS):
            yield program.draft(rule, event, name=event.raw)
