"""Models that a provider runs, which sample there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from d9mlint.model import Rule
from d9mlint.python.interpreter.library import streams
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.judging.ops import varies


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each of the calls; only told by the way where the program writes nothing."""
    keeps = any(streams.writes(event) for event in program.events)
    for draft in varies.check(program, rule, "hosted"):
        yield draft if keeps else replace(draft, severity="info")
