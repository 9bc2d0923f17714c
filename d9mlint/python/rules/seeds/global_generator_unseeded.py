"""``tf.random.get_global_generator`` before ``set_global_generator``."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.randomness import uncovered


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each use that no setting covers."""
    for found in uncovered(program):
        if found.draw.generator == "tensorflow-global-generator" and found.sure:
            yield draft(program, rule, found.draw.event, cond=found.cond, name=found.draw.event.raw)
