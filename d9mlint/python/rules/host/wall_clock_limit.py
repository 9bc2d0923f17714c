"""Training that ends when a time is over."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging import varies
from d9mlint.python.judging.drafts import Draft, draft


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each of the calls, and at the clock in the test of a loop that trains."""
    yield from varies.check(program, rule, "clock")
    for event in program.events:
        if event.kind == "timed":
            yield draft(program, rule, event, name="while", setting=f"a test of `{event.raw}`")
