"""Draws from a generator that come before its seed."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.program import Draft, Program
from d9mlint.python.randomness import LABELS
from d9mlint.python.rules import _unseeded


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """For each global generator, at the first draw of each condition."""
    for generator in LABELS:
        yield from _unseeded.check(program, rule, generator, "late")
