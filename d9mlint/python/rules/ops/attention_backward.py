"""attention-backward: fused attention whose gradient varies and that nothing in the program cures."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.rules.ops import _varying_ops


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each call of fused attention that a gradient goes through, or that loads a model with it."""
    yield from _varying_ops.check(program, rule, attention=True)
