"""Tensors in shared memory that the workers of a data loader change, or the program while they read ahead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.model import Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const
from d9mlint.python.frameworks.torch.loaders import LOADER, NUM_WORKERS, PERHAPS_WORKER, WORKER
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import Draft, draft, lower

_SHARES = (".share_memory_", ".share_memory")
_CHANGES = re.compile(r".*\.(?:__setitem__|__i\w+__|[a-z]\w*(?<!share_memory)(?<!_)_)")
"""Assignments to items, and methods of tensors that change them (``add_``)."""
_COUNTS = re.compile(r".*\.__i\w+__")
"""Those that read what they change: ``self.turn += 1``."""
_BY_WORKERS = (
    "a tensor in shared memory is changed here by the workers of a loader, which read it to choose what they return: "
    "which of them comes first, and so which batch gets what, differs from run to run, whatever the seed"
)
_BY_PROGRAM = (
    "a tensor in shared memory is changed here while the workers of a loader, which read it, are some batches ahead: "
    "how many of them still see the old value differs from run to run, whatever the seed"
)
_CHOOSE = (
    "choose what each item is in the sampler, which runs in the main process, and hand it to the workers with the "
    "index; or load in the main process (`num_workers=0`)"
)
_BETWEEN = (
    "change it between two passes over the loader, or load in the main process as long as it changes (`num_workers=0`)"
)


class _Shared(NamedTuple):
    """A tensor that is put into shared memory, with what workers do with it."""

    shares: Event
    reads: list[Event]
    writes: list[Event]
    others: list[Event]
    """Changes by the program, in a loop."""


def check(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first change in each function that workers run, else at that by the program."""
    told: set[object] = set()
    for one in _shared(program):
        read = next((e for e in (*one.reads, *one.writes) if e in one.reads or _COUNTS.fullmatch(e.name)), None)
        if read is None:
            continue
        several = [e for e in one.writes if not _is_alone(e)]
        later = [e for e in one.others if e.index > read.index]
        for what, event in ((_BY_WORKERS, next(iter(several), None)), (_BY_PROGRAM, next(iter(later), None))):
            if event is None or (what, event.func) in told:
                continue
            told.add((what, event.func))
            worker = event if what is _BY_WORKERS else read
            related = [Related(one.shares.location, "is put into shared memory here")]
            related += [Related(worker.loader.location, "this loader starts the workers")] if worker.loader else []
            related += [Related(read.location, "a worker reads it here")] if worker is read else []
            yield draft(
                program, rule._replace(message=what), event, related=related,
                remedy=_CHOOSE if what is _BY_WORKERS else _BETWEEN,
                confidence=rule.confidence if worker.inside(WORKER) else lower(rule.confidence),
            )  # fmt: skip


def _shared(program: Program) -> Iterator[_Shared]:
    """The tensors in shared memory of a program, with all that is done with them."""
    found: dict[int, _Shared] = {}
    for event in program.ending(_SHARES, "call"):
        if not event.detached:
            for made in made_by(event.receiver):
                found.setdefault(id(made), _Shared(event, [], [], []))
    for event in program.events if found else ():
        changed = event.kind in ("put", "call") and _CHANGES.fullmatch(event.name) is not None
        beside = event.inside(WORKER, PERHAPS_WORKER)
        for made in made_by(event.receiver):
            one = found.get(id(made))
            if one is None or event.detached or event.name.endswith(_SHARES):
                continue
            if not beside and (not changed or not event.loops or event.inside(LOADER)):
                continue
            (one.others if not beside else one.writes if changed else one.reads).append(event)
        given = (made for value in (*event.args, *event.kwargs.values()) for made in made_by(value))
        for one in (found[id(made)] for made in given if beside and id(made) in found):
            one.reads.append(event)
    yield from found.values()


def _is_alone(event: Event) -> bool:
    """Whether a loader has one worker."""
    count = event.loader.argument(NUM_WORKERS) if event.loader is not None else None
    return isinstance(count, Const) and count.value == 1
