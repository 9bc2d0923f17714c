"""Seeds from operating-system entropy."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.rules.seeds import _origin_seeds

ORIGINS = {"entropy": "operating-system entropy"}


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each seeding."""
    yield from _origin_seeds.check(program, rule, ORIGINS)
