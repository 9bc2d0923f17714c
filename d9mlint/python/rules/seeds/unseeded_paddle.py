"""Draws from Paddle's generator in a program that seeds nothing."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.rules.seeds import _unseeded


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first draw of each condition."""
    yield from _unseeded.check(program, rule, "paddle", "unseeded")
