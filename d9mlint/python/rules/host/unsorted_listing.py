"""Listings of folders used in the order of the file system."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from d9mlint.model import Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.judging.order import orders
from d9mlint.python.source.facts import Call, Comp, Def
from d9mlint.python.source.queries import inside

_WALK = "`dirs.sort()` in the loop and `for name in sorted(files)`"
_COMPREHENSION = "wrap the whole comprehension in `sorted(...)`"
_LISTING = "wrap the listing in `sorted(...)`"
_FIRST = "take `min(...)` of the listing instead of `next(...)`, or wrap it in `iter(sorted(...))`"


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each source of such an order."""
    taken = {id(event.args[0]) for event in program.calls("builtins.next") if event.args}
    first = {e.location for e in program.events if e.kind == "call" and id(e.result) in taken} if taken else set()
    for draft in orders.check(program, rule, "listing", remedy=partial(_remedy, program)):
        yield replace(draft, remedy=_FIRST) if draft.location in first else draft


def _remedy(program: Program, source: Event) -> str:
    """What to do about one listing: a walk gives folder after folder, each in an order of its own."""
    if not orders.is_looped(program, source):
        return _LISTING
    return _COMPREHENSION if _in_comprehension(source) else _WALK


def _in_comprehension(walk: Event) -> bool:
    """Whether a list or a generator in a function is made of a walk, without a loop that could sort the folders."""
    body = walk.func.node.body if walk.func is not None and isinstance(walk.func.node, Def) else ()
    place = (walk.location.line, walk.location.column)
    return any(
        isinstance(clause.iterable, Call) and clause.iterable.place[:2] == place
        for one in inside(body, Comp) if one.kind in ("list", "generator")
        for clause in one.clauses
    )  # fmt: skip
