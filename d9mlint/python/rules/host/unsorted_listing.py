"""Listings of folders used in the order of the file system."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.judging.order import orders

_WALK = "`dirs.sort()` in the loop and `for name in sorted(files)`"
_LISTING = "wrap the listing in `sorted(...)`"


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each source of such an order."""
    yield from orders.check(program, rule, "listing", (_WALK, _LISTING))
