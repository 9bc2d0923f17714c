"""Workers that update shared variables without waiting for each other."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Argument, Location, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either, flag_test
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, FlagValue, Obj, Value, alternatives
from d9mlint.python.frameworks.tensorflow.determinism import trainings
from d9mlint.python.interpreter.library.environment import SPAWNED
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.rules.distributed import _actors

STRATEGIES = ("tensorflow.distribute.ParameterServerStrategy",
              "tensorflow.distribute.experimental.ParameterServerStrategy",
              "tensorflow.contrib.distribute.ParameterServerStrategy")  # fmt: skip
SETTER = "tensorflow.train.replica_device_setter"
_SHARES = re.compile(r"torch\.nn\.Module\.share_memory|torch\.nn\.[A-Z]\w*\(\)\.share_memory")
_MAY_SHARE = re.compile(r"(\?\.)?share_memory")
"""The same of something that is not known: only networks have this method (tensors have ``share_memory_``)."""
_SHARED = "share_memory"
_NETWORK = re.compile(
    r"torch\.nn\.(functional\.\w+|[A-Z]\w*\(\)\.(__call__|state_dict|parameters)|Module\.(state_dict|parameters))"
)
_SESSION = "tensorflow.Session.run"
_WAIT, _BARRIER, _JOIN = ".wait", "multiprocessing.Barrier().wait", "multiprocessing.Process.join"
_IN_TURN = (
    "train in one thread: let the others only play or read, and take their results in a fixed order "
    "(`for worker in workers: step(worker.result())`)"
)
_STEP, _THREADS = "torch.optim.Optimizer.step", ("threading.Thread", "threading.Thread.start")
_LAUNCH, _NODE = "launchpad.launch", "launchpad.Program.add_node"
_NODES = "runs nodes of a program side by side, which take what others have computed by then"
_IN_ONE_PROCESS = (
    "for runs that repeat, let one process act and learn in turns instead (Acme: `experiments.run_experiment`); nodes "
    "that call each other (`handle.method()`) have to wait for a known number of steps of each"
)
_THREAD_JOIN = "threading.Thread.join"
_UPDATES = "has workers update the variables asynchronously"
_READS = "lets a process compute with the weights while another trains them"
SYNC = ("tensorflow.train.SyncReplicasOptimizer", "tensorflow.train.SyncReplicasOptimizerV2")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each parameter-server strategy, and each TF1 device setter in a program without synchronous replicas."""
    for event in program.calls(*STRATEGIES):
        yield draft(program, rule, event, last=event.raw.rpartition(".")[2], does=_UPDATES)
    yield from _shared_memory(program, rule)
    yield from _threads(program, rule)
    yield from _actors.check(program, rule)
    nodes = [e for e in program.calls(_NODE) if not e.detached]
    for event in program.calls(_LAUNCH) if len(nodes) > 1 or any(e.loops for e in nodes) else ():
        yield draft(program, rule, event, last=event.raw.rpartition(".")[2], does=_NODES, remedy=_IN_ONE_PROCESS)
    if program.calls(*SYNC):
        return
    for event in program.calls(SETTER):
        cond = _has_servers(event)
        if cond is not False and program.trains:
            yield draft(program, rule, event, cond=cond, last=event.raw.rpartition(".")[2], does=_UPDATES)


def _shared_memory(program: Program, rule: Rule) -> Iterator[Draft]:
    """Processes that train one model of PyTorch in shared memory (Hogwild), or compute with it while it is trained."""
    told = [e for e in program.ending(_SHARED) if not e.detached]
    sharing = [e for e in told if _SHARES.fullmatch(e.name)]
    unknown = [e for e in told if _MAY_SHARE.fullmatch(e.name) and not sharing]
    if not sharing and not unknown:
        return
    inside = [e for e in program.events if e.inside("process", SPAWNED) and e.kind == "call" and not e.detached]
    steps = [e for e in program.trains if e.inside("process", SPAWNED)]
    for event in unknown[:1] if steps else ():
        yield _draft(program, rule, event, _UPDATES, [Related(steps[0].location, "each process trains here")])
    for event in sharing:
        later = [e for e in program.trains if e.index > event.index]
        if steps:
            yield _draft(program, rule, event, _UPDATES, [Related(steps[0].location, "each process trains here")])
        elif later and inside:
            over = _joined(program, later[0])
            left = [e for e in inside if over.isdisjoint(e.stack)]
            readers = [e for e in left if _NETWORK.fullmatch(e.name)]
            if not left or _take_turns(program, readers, later[0]):
                continue
            reader = readers[0] if readers else None
            related = [Related(reader.location, "a process computes with the weights here")] if reader else []
            related.append(Related(later[0].location, "they are trained here"))
            # Weights that a pipe brings are not known there; but they are shared with some process.
            yield _draft(program, rule, event, _READS, related, "" if reader else lower(rule.confidence))


def _joined(program: Program, training: Event) -> set[Location]:
    """Where processes are made that have ended before the training begins."""
    joins = [e for e in program.calls(_JOIN) if e.index < training.index and not e.detached]
    return {e.receiver.event.location for e in joins if isinstance(e.receiver, Obj) and e.receiver.event is not None}


def _take_turns(program: Program, readers: list[Event], training: Event) -> bool:
    """Whether processes compute between two waits of each turn, and the one that trains waits as often before it does.

    So it is with barriers, one that opens a turn and one that closes it.
    """
    waits = [e for e in program.ending(_WAIT, "call") if not e.detached]
    master = [
        e for e in waits if e.name.endswith(_BARRIER) and not e.inside("process", SPAWNED) and e.index < training.index
    ]
    both_sides = [e for e in master if e.loops and e.loops[-1] in training.loops]
    if len(both_sides) <= 1:
        return False
    turns: dict[tuple[int, ...], list[int]] = {}
    for wait in waits:
        if wait.inside("process", SPAWNED):
            turns.setdefault(wait.loops, []).append(wait.index)
    closed = [(loops, at) for loops, at in turns.items() if loops and len(at) > 1]
    return bool(closed) and all(
        any(one.loops[: len(loops)] == loops and at[0] < one.index < at[-1] for loops, at in closed) for one in readers
    )


def _joined_at_once(program: Program, start: Event) -> bool:
    """Whether a thread has ended before the turn does that starts it: there is one at a time."""
    return any(
        e.loops == start.loops and e.index > start.index and e.receiver is start.receiver
        for e in program.calls(_THREAD_JOIN)
    )


def _threads(program: Program, rule: Rule) -> Iterator[Draft]:
    """Several threads that take steps with one optimizer, or run steps of one graph."""
    runs = [e for e in trainings(program) if e.name == _SESSION] if program.calls(_SESSION) else []
    steps = [e for e in (*program.calls(_STEP), *runs) if e.inside("thread") and not e.detached and _made_outside(e)]
    starts = {e.location: e for e in program.calls(*_THREADS) if not e.detached}
    groups: dict[Location, list[Event]] = {}
    for step in steps:
        start = next((place for place in reversed(step.stack) if place in starts), None)
        if start is not None and not _joined_at_once(program, starts[start]):
            groups.setdefault(start, []).append(step)
    for place, found in groups.items():
        if len(groups) > 1 or starts[place].loops:
            related = [Related(found[0].location, "each thread takes a step here")]
            remedy = _IN_TURN if found[0].name == _SESSION else ""
            yield _draft(program, rule, starts[place], _UPDATES, related, remedy=remedy)


def _made_outside(step: Event) -> bool:
    """Whether the optimizer or session of a step was made before its thread, so that others may have the same."""
    made = step.receiver.event if isinstance(step.receiver, Obj) else None
    return made is not None and not made.inside("thread")


def _draft(
    program: Program, rule: Rule, at: Event, does: str, related: list[Related], confidence: str = "", remedy: str = ""
) -> Draft:  # fmt: skip
    remedy, last = remedy or rule.remedy(program.target, ("torch",)), at.raw.rpartition(".")[2]
    return draft(program, rule, at, last=last, does=does, related=related, remedy=remedy, confidence=confidence)


def _has_servers(event: Event) -> Cond:
    """``replica_device_setter`` does nothing without parameter servers (``ps_tasks=0`` and no cluster).

    Devices without a job (``/cpu:0``) are those of the program's own process, which computes one step after the other.
    """
    if event.argument(Argument(4, "cluster")) is not None:
        return True
    devices = [leaf for _, leaf in alternatives(event.argument(Argument(1, "ps_device")))]
    if devices and all(isinstance(leaf, Const) and "job" not in str(leaf.value) for leaf in devices):
        return False
    tasks = event.argument(Argument(0, "ps_tasks"))
    return either(*(both(c, _positive(leaf)) for c, leaf in alternatives(tasks)))


def _positive(leaf: Value) -> Cond:
    if isinstance(leaf, FlagValue):
        return flag_test(leaf.flag, "truthy")
    return isinstance(leaf, Const) and isinstance(leaf.value, int) and leaf.value > 0
