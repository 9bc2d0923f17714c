"""Workers that update shared variables without waiting for each other."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either, flag_test
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, FlagValue, Value, alternatives
from d9mlint.python.interpreter.library.environment import SPAWNED
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

STRATEGIES = ("tensorflow.distribute.ParameterServerStrategy",
              "tensorflow.distribute.experimental.ParameterServerStrategy",
              "tensorflow.contrib.distribute.ParameterServerStrategy")  # fmt: skip
SETTER = "tensorflow.train.replica_device_setter"
SYNC = ("tensorflow.train.SyncReplicasOptimizer", "tensorflow.train.SyncReplicasOptimizerV2")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each parameter-server strategy, and each TF1 device setter in a program without synchronous replicas."""
    for event in program.calls(*STRATEGIES):
        yield draft(program, rule, event, last=event.raw.rpartition(".")[2])
    yield from _shared_memory(program, rule)
    if program.calls(*SYNC):
        return
    for event in program.calls(SETTER):
        cond = _has_servers(event)
        if cond is not False and program.trains:
            yield draft(program, rule, event, cond=cond, last=event.raw.rpartition(".")[2])


def _shared_memory(program: Program, rule: Rule) -> Iterator[Draft]:
    """Processes that train one model of PyTorch in shared memory (Hogwild)."""
    steps = [e for e in program.trains if e.inside("process", SPAWNED)]
    for event in program.calls("torch.nn.Module.share_memory"):
        if steps and not event.detached:
            related = [Related(steps[0].location, "each process trains here")]
            remedy = rule.remedy(program.target, ("torch",))
            yield draft(program, rule, event, last="share_memory", related=related, remedy=remedy)


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
