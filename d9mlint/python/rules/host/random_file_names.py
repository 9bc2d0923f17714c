"""Names of files that are other ones in each run, in a folder that the program goes through in the order of names."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.interpreter.marks.bounded import listings
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, lower, short_name
from d9mlint.python.judging.files.calls import opens, target_of
from d9mlint.python.judging.files.folders import folder_of, writes_into
from d9mlint.python.judging.order import orders

_ENTROPY, _CLOCK = "entropy", "clock"
_SORTS = ("builtins.sorted", "builtins.list.sort", "?.sort", "natsort.natsorted")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each call that names files by chance whose folder is gone through in an order that counts.

    A time before the chance puts names that are sorted in order, but for those of one tick of the clock.
    """
    named = [(event, source) for event, source in _named_by_chance(program) if not event.detached]
    if not named:
        return
    used = [*_in_order(program)]
    told: set[object] = set()
    for write, source in named:
        for listing, use, is_sorted in used:
            if source.location in told or not any(writes_into(folder_of(listing), [write])):
                continue
            told.add(source.location)
            timed = is_sorted and _CLOCK in taint([target_of(write)])[0]
            related = [Related(write.location, "the file is written here"), Related(listing.location, "is listed here")]
            related += [Related(use.location, "here the order matters")] if use.location != listing.location else []
            confidence = lower(rule.confidence) if timed else rule.confidence
            yield draft(program, rule, source, related=related, confidence=confidence, name=short_name(source))


def _named_by_chance(program: Program) -> Iterator[tuple[Event, Event]]:
    """The calls that write a file whose path comes from the system's entropy, each with what takes it from there."""
    for event in program.events:
        if event.kind == "call" and opens(event) and (target := target_of(event)) is not None:
            origins, _, sources = taint([target])
            if _ENTROPY in origins:
                yield from ((event, one) for one in sources if any(x.origin == _ENTROPY for x in one.effects))


def _in_order(program: Program) -> Iterator[tuple[Event, Event, bool]]:
    """Listings whose order counts, each with where it does, and whether it is that of the names: they are sorted."""
    for source, sinks in orders.reached(program, "listing"):
        yield source, sinks[0], False
    for event in program.calls(*_SORTS):
        if not event.kwargs and not event.detached and orders.is_numeric(program):
            given = [value for value in (event.receiver, *event.args[:1]) if value is not None]
            yield from ((one, event, True) for one in listings(taint(given)[2]))
