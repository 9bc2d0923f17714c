"""Folders that workers of a loader list again and again while the program writes files into them."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.torch import loaders
from d9mlint.python.interpreter.library.streams import LISTINGS
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.judging.paths import path_of, saved_there
from d9mlint.python.rules.host import _files

_TREES = (*LISTINGS, "os.walk")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each listing in a worker process of a folder that the loop around puts files into."""
    listed = [e for e in program.events if e.kind == "call" and e.name.endswith(_TREES) and _in_worker(e)]
    writes = [e for e in program.events if e.kind == "call" and not e.inside(*loaders.CONTEXTS)] if listed else []
    writes = [e for e in writes if not e.detached and _files.opens(e)]
    told: set[object] = set()
    for event in listed:
        folder = path_of(event)
        if folder is None or event.location in told:
            continue
        beside = [e for e in writes if _meanwhile(event, e) and event.meets(e) and saved_there(folder, [e])]
        if beside:
            told.add(event.location)
            related = [Related(beside[0].location, "a file is written there")]
            sure = event.inside(loaders.WORKER)
            confidence = rule.confidence if sure else lower(rule.confidence)
            yield draft(program, rule, event, related=related, confidence=confidence, name=event.raw)


def _in_worker(event: Event) -> bool:
    return event.inside(loaders.WORKER, loaders.PERHAPS_WORKER) and not event.detached


def _meanwhile(listed: Event, write: Event) -> bool:
    """Whether a file is written while workers run, from where an iterator is made: in the same loop, or a later one."""
    return not {*listed.loops}.isdisjoint(write.loops) or (write.index > listed.index and bool(write.loops))
