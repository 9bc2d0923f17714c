"""Processes that a program starts afresh: which function they run, as what their parent did does not reach them."""

from __future__ import annotations

from d9mlint.model import Location, Related
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Bound, Class, Func, Partial, Value, alternatives
from d9mlint.python.frameworks import horovod, ray
from d9mlint.python.frameworks.torch import loaders
from d9mlint.python.interpreter.library.environment import PROCESS, SPAWNED
from d9mlint.python.interpreter.library.workers import TASK
from d9mlint.python.interpreter.program import Program
from d9mlint.python.source.facts import Def

_STARTS = ("Process", "spawn", "start_processes")
_SEVERAL = ("spawn", "start_processes")
"""Calls that start one process for each rank."""
PLACED = "in a process of its own"
"""In a remedy, where something is to be done that is of no use at the start of the program."""
_UNREACHED = "no seed of the parent reaches it"
_APART = "; add the number of the process to the seed where they are to draw different numbers"
RANKS = " (add the rank to the seed, `1 + hvd.rank()`: with the same seed all ranks draw the same numbers)"
"""In a remedy for a program whose ranks are given the same weights: what each of them draws has to differ."""


def lacks_parent_state(event: Event, generator: str = "") -> bool:
    """Whether an event happens in a process that has no state of its parent, or none of that of ``generator``.

    Python's generator is seeded anew in a copy of a process, too (Lib/random.py of CPython 3.7 and later:
    ``os.register_at_fork(after_in_child=_inst.seed)``; before, Lib/multiprocessing/popen_fork.py: ``random.seed()``).
    """
    return event.inside(SPAWNED) or (generator == "python" and event.inside(PROCESS))


def runs_in(program: Program, event: Event, generator: str = "") -> Func | Class | None:
    """The function that the process of an event runs, or the class of the actor that it is kept for.

    None in the first process, in a copy that has its state of ``generator``, or where it is not known.
    """
    started = _started(program, event, generator)
    return None if started is None else started[1]


def _started(program: Program, event: Event, generator: str = "") -> tuple[Event, Func | Class] | None:
    """The call that starts the process of an event, and what that runs."""
    if not lacks_parent_state(event, generator):
        return None
    starts = program.once("process-starts", _starts)
    for place in reversed(event.stack):
        before = [one for one in starts.get(place, ()) if one[0].index < event.index]
        if before:
            return before[-1]
    return None


def _starts(program: Program) -> dict[object, list[tuple[Event, Func | Class]]]:
    """The calls that start processes, by their places, each with the function or actor that it starts one for."""
    found: dict[object, list[tuple[Event, Func | Class]]] = {}
    for event in program.events:
        if event.kind == "call" and (remote := ray.started(event)) is not None:
            found.setdefault(event.location, []).append((event, remote))
        elif event.name == TASK or (event.kind == "call" and event.name.rpartition(".")[2] in _STARTS):
            given = [event.kwargs[key] for key in ("target", "fn") if key in event.kwargs] or list(event.args)
            func = next((func for value in given if (func := _function(value))), None)
            if func is not None:
                found.setdefault(event.location, []).append((event, func))
    return found


def _function(value: Value) -> Func | None:
    for _, leaf in alternatives(value):
        if isinstance(leaf, (Bound, Partial)):
            return _function(leaf.func)
        if isinstance(leaf, Func):
            return leaf
    return None


def told_there(program: Program, event: Event, generator: str = "") -> list[Related]:
    """Where the function begins that the process of an event runs; nothing where it has no name."""
    func = runs_in(program, event, generator)
    if isinstance(func, Class):
        line, column, *_ = func.node.place
        at = Location(func.frame.module.path, line, column, line, column + len("class"))
        return [Related(at, "is an actor, which has a process of its own")]
    if func is None or not isinstance(func.node, Def):
        return []
    line, column, *_ = func.node.place
    at = Location(func.closure.module.path, line, column, line, column + len("def"))
    return [Related(at, "is run by a process of its own")]


def named_there(program: Program, event: Event) -> str:
    """What the process of an event runs first, in words."""
    func = runs_in(program, event)
    if isinstance(func, Class):
        return f"`__init__` of the actor `{func.node.name}`"
    return "the function that is started" if func is None else f"`{func.name}`"


def of_ranks(program: Program) -> str:
    """What to add to the remedy for a missing seed where ranks of Horovod train together."""
    started = any(not event.detached for event in program.calls(*horovod.INITS))
    return RANKS if started and horovod.broadcasts(program) else ""


_OF_TASKS = (
    "hand each task a number of its own, `delayed(work)(index)`, and draw there from a generator made of it, such as "
    "`np.random.default_rng([1, index])` or `random.Random(index)`: workers take the tasks as they come, and no seed "
    "of the parent reaches them"
)
"""What to do about draws in the tasks of joblib."""


def remedy_there(program: Program, event: Event, remedy: str, generator: str = "") -> str:
    """A remedy with the function that it belongs in, where that is one of another process."""
    started = _started(program, event, generator)
    if started is None:
        return remedy
    start, func = started
    if not {one.location for one in program.calls(TASK)}.isdisjoint(event.stack):
        return _OF_TASKS
    if isinstance(func, Class):
        where = f"in {named_there(program, event)}, each actor with a seed of its own"
        return f"{remedy} ({where}: {_UNREACHED})"
    # One finding speaks for all programs that meet it, and not all of them need start processes.
    several = start.loops or start.name.rpartition(".")[2] in _SEVERAL
    note = f" (where `{func.name}` runs {PLACED}, at its start: {_UNREACHED}{_APART if several else ''})"
    return f"{remedy}{note}"


_WORKER = "worker_id"
"""What PyTorch's documentation calls the parameter of a ``worker_init_fn``."""
_OF_LOADER = (
    "take the seed that the loader gives each of its workers, `torch.initial_seed() % 2**32` (with a constant all of "
    "them draw the same numbers); it follows from PyTorch's seed, which has to be set before the loader is gone through"
)


def of_loader(event: Event) -> str:
    """What to do about a seed that is set in a worker of a loader; empty for one that is set elsewhere.

    Source: torch 2.13, utils/data/_utils/worker.py (``_worker_loop``: ``seed = base_seed + worker_id``).
    """
    return _OF_LOADER if event.inside(loaders.WORKER) or event.inside(loaders.PERHAPS_WORKER) or _is_init(event) else ""


def _is_init(event: Event) -> bool:
    """Whether a function is made for a loader that is not seen: its only parameter says so."""
    node = event.func.node if event.func is not None and not event.inside("thread", "process", SPAWNED) else None
    return isinstance(node, Def) and [one.name for one in node.params] == [_WORKER]
