"""Draws from a generator although others are seeded."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import GENERATORS, Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.rules.seeds import _unseeded


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """For each global generator, at the first draw of each condition."""
    for generator in GENERATORS:
        yield from _unseeded.check(program, rule, generator, "partial")
