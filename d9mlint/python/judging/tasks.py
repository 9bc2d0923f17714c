"""Draws in the tasks of threads and processes, by the calls that start them."""

from __future__ import annotations

from d9mlint.model import Effect, Location
from d9mlint.python.domain.conditions import conjuncts
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Optional
from d9mlint.python.frameworks.tensorflow.pipelines import OWN_GENERATORS, draws_on_host
from d9mlint.python.frameworks.torch.loaders import PERHAPS_WORKER, WORKER
from d9mlint.python.interpreter.library import workers
from d9mlint.python.interpreter.library.environment import PROCESS
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.randomness import draws, no_own_seed
from d9mlint.python.judging.reseeding import handles, unseeded
from d9mlint.python.judging.seedings import Seeding, seedings

_ALONE = ("multiprocessing.Process", "multiprocessing.Context.Process")
"""Start one worker for one task: its copy of the state belongs to that task, whatever the timing."""
_ONE_TASK = (".apply_async", ".apply", ".submit")
"""Calls that start one task each."""


def _starts_workers(event: Event) -> bool:
    return any(one.context in ("thread", "process") for effect in event.effects for one in effect.invokes)


def _draws_on_host(event: Event) -> bool:
    """Whether a call draws from a generator of Python or NumPy, and is given no seed of its own."""
    return draws_on_host(event) and not any(effect.draws and _gives_seed(event, effect) for effect in event.effects)


def _gives_seed(event: Event, effect: Effect) -> bool:
    value = event.argument(effect.own_seed) if effect.own_seed is not None else None
    return value is not None and not isinstance(value, Optional) and no_own_seed(event, effect) is False


def _own(start: Event, draw: Event) -> bool:
    """Whether a task draws from a generator that is made for it alone, where it is started."""
    makers = list(made_by(draw.receiver))
    alike = all(made.loops == start.loops and made.func is start.func for made in makers)
    return bool(makers) and alike and start.name.endswith(_ONE_TASK)


def _seeded(program: Program, draw: Event) -> bool:
    """Whether a process draws from a generator that its task has given a seed, or sees to the state of one."""
    if not draw.name.startswith(OWN_GENERATORS):
        return False
    if handles(draw):
        return True
    makers = list(made_by(draw.receiver)) if not draw.inside("thread") else []
    return bool(makers) and all(unseeded(program, draw, made, within=("process",)) is False for made in makers)


def _by_task(program: Program, start: Event, draw: Event) -> bool:
    """Whether a task seeds a global generator of its process before it draws: what earlier tasks drew is gone.

    A seed that the process is given once, by the ``initializer`` of a pool, is none of the task's.
    """
    if draw.inside("thread") or draw.name.startswith(OWN_GENERATORS):
        return False
    wanted = {generator for effect in draw.effects for generator in effect.draws}
    given = (
        generator
        for seed in seedings(program)
        if start.location in seed.event.stack and _before(seed, draw)
        for generator in seed.generators
    )
    return wanted <= set(given)


def _before(seed: Seeding, draw: Event) -> bool:
    """Whether a seed that is set in a task acts on a draw of it, whatever the task is."""
    event = seed.event
    always = seed.fixes is True or set(conjuncts(seed.fixes)) <= set(draw.guards)
    return event.index < draw.index < seed.until and always and not event.detached and not seed.restores


def of_tasks(program: Program) -> tuple[tuple[Event, list[Event]], ...]:
    """Each call that starts tasks which draw from a generator that they share, or a copy of it, with these draws."""
    return program.once("draws-of-tasks", _of_tasks)


def in_pool(program: Program, draw: Event) -> bool:
    """Whether a draw is made in a process of a pool: which task it is for depends on the clock, whatever is seeded."""
    return draw.inside(PROCESS) and id(draw) in program.once("draws-in-pools", _in_pools)


def _in_pools(program: Program) -> frozenset[int]:
    return frozenset(id(draw) for _, drawn in of_tasks(program) for draw in drawn if not draw.inside("thread"))


def _draws(program: Program, event: Event) -> bool:
    """Whether a call draws from a generator that threads share, or of which a process has a copy.

    The workers of a loader take their seeds from one number of PyTorch's generator, which is drawn where the loader is
    gone through.
    """
    if not event.inside(PROCESS):
        return _draws_on_host(event)
    within = event.contexts[event.contexts.index(PROCESS) :]
    if WORKER in within or PERHAPS_WORKER in within:
        return False
    return _draws_on_host(event) or id(event) in program.once("draws-of-torch", _of_torch)


def _of_torch(program: Program) -> frozenset[int]:
    return frozenset(id(draw.event) for draw in draws(program) if draw.generator == "torch" and not draw.worker)


def _of_tasks(program: Program) -> tuple[tuple[Event, list[Event]], ...]:
    groups: dict[int, tuple[Event, list[Event]]] = {}
    at: dict[Location, list[Event]] = {}
    for event in program.events:
        if event.kind == "call" and (event.name == workers.TASK or (event.effects and _starts_workers(event))):
            at.setdefault(event.location, []).append(event)
    for event in program.events if at else ():
        if event.kind == "call" and event.inside("thread", PROCESS) and _draws(program, event):
            start = next(
                (e for loc in reversed(event.stack) for e in reversed(at.get(loc, ())) if e.index < event.index), None
            )
            if (
                start is not None
                and start.name not in _ALONE
                and not _own(start, event)
                and not _seeded(program, event)
                and not _by_task(program, start, event)
            ):
                groups.setdefault(start.index, (start, []))[1].append(event)
    return tuple(groups.values())
