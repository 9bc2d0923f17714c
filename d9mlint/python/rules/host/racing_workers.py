"""Workers that update one model without locks, or choose by what they share, and data changed while they are read."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.judging.ops import varies
from d9mlint.python.rules.host import _epoch_ends, _shared_tensors


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each of the calls."""
    yield from varies.check(program, rule, "threads")
    yield from _shared_tensors.check(program, rule)
    yield from _epoch_ends.check(program, rule)
