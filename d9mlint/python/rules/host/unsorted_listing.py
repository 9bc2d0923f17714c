"""Listings of folders used in the order of the file system."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from d9mlint.model import Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.judging.order import orders

_WALK = "`dirs.sort()` in the loop and `for name in sorted(files)`"
_LISTING = "wrap the listing in `sorted(...)`"
_FIRST = "take `min(...)` of the listing instead of `next(...)`, or wrap it in `iter(sorted(...))`"


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each source of such an order."""
    taken = {id(event.args[0]) for event in program.calls("builtins.next") if event.args}
    first = {e.location for e in program.events if e.kind == "call" and id(e.result) in taken} if taken else set()
    for draft in orders.check(program, rule, "listing", (_WALK, _LISTING)):
        yield replace(draft, remedy=_FIRST) if draft.location in first else draft
