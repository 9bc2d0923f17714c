"""Draws from Paddle's generator in a program that seeds nothing."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.rules.seeds import _unseeded

_OF_PROGRAM = ".random_seed"
"""The seed of a static graph: ``paddle.static.default_startup_program().random_seed = 90``."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first draw of each condition."""
    if not program.ending(_OF_PROGRAM, "set"):
        yield from _unseeded.check(program, rule, "paddle", "unseeded")
