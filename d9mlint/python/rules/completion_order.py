"""Results used in the order in which workers finish."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python import orders
from d9mlint.python.program import Draft, Program


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each source of such an order."""
    yield from orders.check(program, rule, "completion")
