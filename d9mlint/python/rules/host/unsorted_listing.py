"""Listings of folders used in the order of the file system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from d9mlint.model import Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.judging.order import orders
from d9mlint.python.source.facts import Call, Comp, Def, Place
from d9mlint.python.source.queries import inside

_WALK = "`dirs.sort()` in the loop and `for name in sorted(files)`"
_COMPREHENSION = "wrap the whole comprehension in `sorted(...)`"
_LISTING = "wrap the listing in `sorted(...)`"
_ENTRIES = "os.scandir"
_BY_NAME = "sort the entries by their names: `sorted(os.scandir(...), key=lambda entry: entry.name)`"
"""(Entries themselves have no order: ``sorted(os.scandir(path))`` raises an error.)"""
_FIRST = "take `min(...)` of the listing instead of `next(...)`, or wrap it in `iter(sorted(...))`"


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each source of such an order."""
    taken = {id(event.args[0]) for event in program.calls("builtins.next") if event.args}
    first = {e.location for e in program.events if e.kind == "call" and id(e.result) in taken} if taken else set()
    drafts = list(orders.check(program, rule, "listing", remedy=partial(_remedy, program)))
    for draft in _by_comprehension(program, drafts):
        yield replace(draft, remedy=_FIRST) if draft.location in first else draft


def _by_comprehension(program: Program, drafts: Sequence[Draft]) -> Iterator[Draft]:
    """The drafts; those of one comprehension have one cause, as they make one list.

    ``[... for a in listdir(top) for b in listdir(join(top, a))]``
    """
    places = {one.location for one in drafts}
    calls = {e.location: e for e in program.events if e.kind == "call" and e.location in places} if drafts else {}
    inside_of = {location: _around(event) for location, event in calls.items()}
    counted = Counter((at.path, comp) for at, comp in inside_of.items() if comp is not None)
    for one in drafts:
        comp = inside_of.get(one.location)
        if comp is None or counted[one.location.path, comp] == 1:
            yield one
        else:
            place = f"{one.location.path.replace('/', '.')}-{comp[0]}-{comp[1]}"
            yield replace(one, cause=f"{one.rule.name}-{place}")


def _around(call: Event) -> Place | None:
    """Where the outermost comprehension of a function stands that a call is part of; None where there is none."""
    body = call.func.node.body if call.func is not None and isinstance(call.func.node, Def) else ()
    at = (call.location.line, call.location.column)
    found = (one.place for one in inside(body, Comp) if one.place[:2] <= at < one.place[2:])
    return min(found, default=None)


def _remedy(program: Program, source: Event) -> str:
    """What to do about one listing: a walk gives folder after folder, each in an order of its own."""
    if source.name == _ENTRIES:
        return _BY_NAME
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
