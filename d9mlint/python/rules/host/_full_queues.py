"""What a worker draws and does not wait to put into a full queue: how many it throws away is a matter of timing.

Source: docs.python.org, ``queue.Queue.put`` (without waiting, or when the timeout is over, it raises ``Full``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.randomness import draws

_NO_WAIT = ("Queue().put_nowait", "Queue.put_nowait")
PUTS = ("Queue().put", "Queue.put", *_NO_WAIT)
GETS = ("Queue().get", "Queue().get_nowait", "Queue.get", "Queue.get_nowait")
WORKERS = ("thread", "process", "spawned")
_BLOCK, _TIMEOUT = Argument(1, "block"), Argument(2, "timeout")
_DROPS = (
    "`Queue.{}` raises `Full` where nobody has taken what was put before, and the worker draws another one in its "
    "place: how many are thrown away, and so which ones the program gets, depends on timing"
)
_WAIT = "let the worker wait until there is room: `queue.put(item)`, or put the same item again where the queue is full"


def dropped(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first call for a queue that puts what was drawn in this turn, and that goes on where the queue is full."""
    told: set[int] = set()
    for put in program.ending(PUTS, "call"):
        if not put.tried or not put.loops or put.detached or not put.inside(*WORKERS) or _waits(put):
            continue
        queues = set(map(id, made_by(put.receiver)))
        drawn = None if queues <= told else _drawn(program, put)
        if drawn is not None and (got := _taken(program, queues)) is not None:
            told |= queues
            related = [
                Related(drawn.location, "draws anew in each turn"), Related(got.location, "is taken here")
            ]  # fmt: skip
            name = put.name.rpartition(".")[2]
            found = draft(program, rule, put, confidence="medium", related=related, remedy=_WAIT, name=name, sink="")
            yield replace(found, message=_DROPS.format(name))


def _waits(put: Event) -> bool:
    """Whether a call waits for room as long as it takes."""
    block, timeout = put.argument(_BLOCK), put.argument(_TIMEOUT)
    limited = timeout is not None and not (isinstance(timeout, Const) and timeout.value is None)
    return not (put.name.endswith(_NO_WAIT) or limited or (isinstance(block, Const) and block.value is False))


def _drawn(program: Program, put: Event) -> Event | None:
    """A draw in each turn of the loop around: one in which nothing is drawn puts the same item again."""
    before = (one.event for one in draws(program) if one.event.index < put.index)
    return next((e for e in before if e.loops[: len(put.loops)] == put.loops), None)


def _taken(program: Program, queues: set[int]) -> Event | None:
    """Where the program takes something out of the queue."""
    gets = (e for e in program.ending(GETS, "call") if not e.detached and not e.inside(*WORKERS))
    return next((e for e in gets if not queues.isdisjoint(map(id, made_by(e.receiver)))), None)
