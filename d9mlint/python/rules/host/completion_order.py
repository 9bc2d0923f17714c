"""Results used in the order in which workers finish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from d9mlint.model import Argument, Location, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either, has_raised, literals
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.testkeys import asks
from d9mlint.python.domain.values import Const
from d9mlint.python.frameworks.tensorflow.determinism import trainings
from d9mlint.python.interpreter.library.environment import PROCESS, SPAWNED
from d9mlint.python.interpreter.library.streams import WRITTEN
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.loops import RANGES
from d9mlint.python.judging.order import orders
from d9mlint.python.rules.host._full_queues import GETS, PUTS, WORKERS, dropped

_ASKS = ("Queue().empty", "Queue().qsize", "Queue.empty", "Queue.qsize")
_ALIVE = (".is_alive",)
_SPAWN, _JOIN = "torch.multiprocessing.spawn", Argument(3, "join")
_BLOCK, _TIMEOUT = Argument(0, "block"), Argument(1, "timeout")
_BY_THEN = (
    "`Queue.{}` takes what a worker has put by then: how much comes in which turn depends on timing, and the program "
    "uses it while it trains"
)
_WAIT = (
    "take a known number of results in each turn by `queue.get()`, which waits for them; or let the worker put a mark "
    "at the end of each turn, and read up to it; where several workers put into it, let each put the number of its "
    "task with the result, and sort by that, as their order varies, too"
)

_OF_QUEUE = (
    "use one worker, or a queue for each worker and take from them in turn; or let each worker put the number of its "
    "task with the result, and go on in the order of the numbers"
)

_OF_THREADS = (
    "wait for a thread (`thread.join()`) before the next one is started, or let one thread do all the writing; where "
    "each computes a result, use `executor.map`, which keeps the order of the tasks"
)
_RAY, _THREAD = "ray.", "threading.Thread"
_OF_RAY = (
    "take the results in the order of the calls: `ray.get(refs)`, or `pool.map` of a pool of actors; where they have "
    "to be taken as they come, store each at the index of its call (`index[ref]`), and go on when all are there"
)


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each source of such an order, and where training takes what several workers put into one queue."""
    told = set()
    counts = partial(_counts, program)
    for one in orders.check(program, rule, "completion", counts=counts, takes_one=GETS, remedy=_remedy):
        told.add(one.location)
        yield replace(one, severity="info") if _trains_there(program, one.location) else one
    yield from _queues(program, rule, told)
    yield from dropped(program, rule)


def _remedy(source: Event) -> str:
    """What to do about a source where it is not what the rule says."""
    if source.name.startswith(_RAY):
        return _OF_RAY
    if source.name == _THREAD:
        return _OF_THREADS
    return _OF_QUEUE if source.name.endswith(GETS) else ""


def _counts(program: Program, source: Event, sink: Event) -> bool:
    """Whether results come as workers finish: of a queue only where several put into it, of threads side by side.

    What threads do with what they share is a race of its own: what is left of it then counts, and what they write.
    """
    if source.name.endswith(GETS):
        return any(_several(program, one) for one in made_by(source.receiver))
    if source.name == _THREAD and sink.inside("thread") and sink.name != WRITTEN and not source.inside("thread"):
        return False
    return not any(
        join.loops == source.loops and source in made_by(join.receiver) for join in program.once("joins", _joins)
    )


def _trains_there(program: Program, place: Location) -> bool:
    """Whether threads that are started at a place train side by side, of which `async-training` tells."""
    starts = [e for e in program.calls(_THREAD) if e.location == place]
    return bool(starts) and any(e.inside("thread") and place in e.stack and not e.detached for e in program.trains)


def _joins(program: Program) -> list[Event]:
    return program.ending(".join")


def _queues(program: Program, rule: Rule, told: set[Location]) -> Iterator[Draft]:
    training = {number for event in (*program.trains, *trainings(program)) for number in event.loops}
    filled: dict[int, tuple[Event, list[Event]]] = {}
    """By the ``id`` of each queue that several workers fill: where these are started, and what is taken out of it."""
    for event in program.ending(GETS, "call"):
        if training.isdisjoint(event.loops) or event.detached or _is_of_workers(program, event):
            continue
        for queue in made_by(event.receiver):
            started = _several(program, queue)
            if started is not None:
                filled.setdefault(id(queue), (started, []))[1].append(event)
            elif event.location not in told and (put := _left_there(program, event, queue)) is not None:
                told.add(event.location)
                yield replace(
                    _drained(program, rule, event, put), message=_BY_THEN.format(event.name.rpartition(".")[2])
                )
    yield from _taken(program, rule, filled.values(), told)


def _is_of_workers(program: Program, event: Event) -> bool:
    """Whether one of several workers does something, or any process; a thread that is started once trains for all."""
    if event.inside(PROCESS, SPAWNED):
        return True
    return event.inside("thread") and any(one.loops for one in _starts(program) if one.location in event.stack)


def _taken(
    program: Program, rule: Rule, filled: Iterable[tuple[Event, list[Event]]], told: set[Location]
) -> Iterator[Draft]:  # fmt: skip
    """At what is taken out of queues that several workers fill, where nothing is told of it yet."""
    for started, gets in filled:
        for event, others in _by_branches(gets):
            places = {one.location for one in (event, *others)}
            if not told.isdisjoint(places):
                continue
            told |= places
            related = [
                Related(started.location, "several workers are started here, which put into the same queue"),
                *(Related(one.location, "another branch takes from it here") for one in others),
            ]
            yield draft(program, rule, event, related=related, remedy=_OF_QUEUE, name="Queue.get", sink="training")


def _by_branches(gets: list[Event]) -> Iterator[tuple[Event, list[Event]]]:
    """The calls that take from one queue, those of several branches as one, under the conditions of any of them."""
    while gets:
        first, *rest = gets
        others = [one for one in rest if one.loops == first.loops and not one.meets(first)]
        gets = [one for one in rest if one not in others]
        shared = tuple(g for g in first.guards if all(g in one.guards for one in others))
        any_of = either(*(both(*(g for g in one.guards if g not in shared)) for one in (first, *others)))
        yield replace(first, guards=(*shared, any_of)), others


def _drained(program: Program, rule: Rule, event: Event, put: Event) -> Draft:
    related = [Related(put.location, "a worker puts into the same queue")]
    return draft(program, rule, event, confidence="medium", related=related, remedy=_WAIT)


def _left_there(program: Program, get: Event, queue: Event) -> Event | None:
    """Where a worker puts what a call takes out of a queue without waiting for it; None where it waits."""
    put = _put(program, queue)
    return put if put is not None and _takes_what_is_there(program, get, put, queue) else None


def _put(program: Program, queue: Event) -> Event | None:
    """Where a worker puts results into a queue; None where there is none, or it only says there that it has failed."""
    puts = (e for e in program.ending(PUTS, "call") if e.inside(*WORKERS))
    results = (e for e in puts if not any(map(has_raised, e.guards)))
    return next((e for e in results if any(made is queue for made in made_by(e.receiver))), None)


def _ended(program: Program, put: Event, get: Event) -> bool:
    """Whether the workers that put have ended by then: who starts them waits for them."""
    started = (e for e in program.calls(_SPAWN) if e.location in put.stack and e.index < get.index)
    return any(e.func is get.func and _waits(e) for e in started)


def _waits(started: Event) -> bool:
    """Whether a call that starts workers goes on when all have ended: ``mp.spawn(..., join=True)``, the default."""
    join = started.argument(_JOIN)
    return started.name == _SPAWN and (join is None or (isinstance(join, Const) and join.value is True))


def _takes_what_is_there(program: Program, get: Event, put: Event, queue: Event) -> bool:
    """Whether a call takes something out of a queue without waiting for it: it, or a test before it, asks."""
    if get.discarded or not get.loops or _ended(program, put, get):
        return False
    waits = [get.argument(_BLOCK), get.argument(_TIMEOUT)]
    if get.name.endswith("_nowait") or any(isinstance(one, Const) and one.value is not None for one in waits[1:]):
        return True
    if isinstance(waits[0], Const) and waits[0].value is False:
        return True
    near = (e for e in program.ending(_ASKS) if e.index < get.index and e.func is get.func)
    return any(made is queue for e in near if e.loops == get.loops[: len(e.loops)] for made in made_by(e.receiver))


def _several(program: Program, queue: Event) -> Event | None:
    """What starts the workers that put into a queue, in a loop of more than one pass; None where one alone does.

    Where queues are made one by one, each of them is taken to have a worker of its own.
    """
    depth = len(queue.loops)
    for event in program.ending(PUTS, "call"):
        if event.inside(*WORKERS) and any(made is queue for made in made_by(event.receiver)):
            started = next((e for e in _starts(program) if e.loops and _runs(e, event)), None)
            shared = started is not None and started.loops[:depth] == queue.loops and len(started.loops) > depth
            if started is not None and shared and not _waits(started) and not _once(program, started):
                return started
    return None


def _runs(start: Event, inner: Event) -> bool:
    """Whether something happens in a worker that this very call starts: others at its place may be in other loops."""
    depth = len(start.stack)
    return inner.stack[:depth] == start.stack and inner.stack[depth : depth + 1] == (start.location,)


def _starts(program: Program) -> list[Event]:
    return program.once("starts-of-workers", _starting)


def _starting(program: Program) -> list[Event]:
    """The calls that start workers, but for those that take the place of one which has ended."""
    return [
        event
        for event in program.events
        if event.kind == "call"
        and any(i.context in WORKERS for x in event.effects for i in x.invokes)
        and not any(map(_of_ended, event.guards))
    ]


def _of_ended(cond: Cond) -> bool:
    """Whether a condition asks whether a worker is still there: ``if not thread.is_alive():``."""
    return any(asks(one.opaque, _ALIVE) for one in literals(cond))


def _once(program: Program, started: Event) -> bool:
    """Whether the loop around is known to have one pass: ``for i in range(1)``."""
    before = (e for e in reversed(program.events[: started.index]) if e.name in RANGES)
    counted = next((e for e in before if e.func is started.func), None)
    only = counted.args[0] if counted is not None and len(counted.args) == 1 else None
    return isinstance(only, Const) and only.value == 1
