"""Sets gone through where the order counts."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.judging.hashing import where_salted
from d9mlint.python.judging.order import orders


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each source of such an order, unless the hash seed is fixed."""
    yield from where_salted(program, orders.check(program, rule, "set"))
