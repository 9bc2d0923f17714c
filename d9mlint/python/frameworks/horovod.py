"""What a program says about Horovod: how its gradients are summed, which variables are in force, what is broadcast.

Source: horovod 0.28.1, horovod/common/operations.cc (BackgroundThreadLoop reads the variables during ``hvd.init()``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from d9mlint.model import Related
from d9mlint.python.domain.conditions import Cond, both, either, flag_test, negate, opaque_test
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Dict, FlagValue, Seq, Value, alternatives
from d9mlint.python.interpreter.program import Program

THRESHOLD = "HOROVOD_FUSION_THRESHOLD"
NO_GROUP_FUSION = "HOROVOD_DISABLE_GROUP_FUSION"
INITS = ("horovod.tensorflow.init", "horovod.torch.init")
_WRAPPERS = (
    *(
        f"horovod.tensorflow.{name}"
        for name in ("DistributedOptimizer", "DistributedGradientTape", "PartialDistributedOptimizer",
                     "PartialDistributedGradientTape")
    ),
    "horovod.torch.DistributedOptimizer",
)  # fmt: skip
_OTHERS = ("tensorflow.", "numpy.", "keras.")
"""Where "broadcast" means shapes."""
_NUMBER = re.compile(r"\s*([+-]?\d+)")


@dataclass(frozen=True, slots=True)
class Wrap:
    """A call that makes an optimizer or a tape sum its gradients over the ranks."""

    event: Event
    fused: Cond
    """Tensor fusion is on (nothing in the program turns it off in time)."""
    grouped: Cond
    """The gradients are put into fixed groups."""


def wraps(program: Program) -> Iterator[Wrap]:
    """All such calls, in order."""
    fused = negate(variable(program, THRESHOLD, lambda n: n == 0))
    groups = program.target.fits("horovod", ">=0.21")
    for event in program.calls(*_WRAPPERS):
        yield Wrap(event, fused, _grouped(event) if groups else False)


def _grouped(event: Event) -> Cond:
    given = [event.kwargs[name] for name in ("num_groups", "groups") if name in event.kwargs]
    return either(*(both(cond, _positive(leaf)) for value in given for cond, leaf in alternatives(value)))


def _positive(leaf: Value) -> Cond:
    if isinstance(leaf, Const):
        return bool(leaf.value)
    if isinstance(leaf, FlagValue):
        return flag_test(leaf.flag, "truthy")
    return True if isinstance(leaf, (Seq, Dict)) else opaque_test(("groups", id(leaf)), "groups")


def variable(program: Program, name: str, test: Callable[[int], bool]) -> Cond:
    """The condition under which the program gives a variable a number that passes ``test`` before ``hvd.init()``."""
    writes = [e for e in program.env(name) if e.args and not e.detached and not _late(program, e)]
    return either(
        *(both(*e.guards, cond, _number(leaf, test)) for e in writes for cond, leaf in alternatives(e.args[0]))
    )


def _number(leaf: Value, test: Callable[[int], bool]) -> Cond:
    if not isinstance(leaf, Const):
        return opaque_test(("number", id(leaf)), "a value that is not known")
    found = _NUMBER.match(str(leaf.value))
    return test(int(found[1]) if found else 0)  # as strtol has it


def _late(program: Program, event: Event) -> bool:
    init = next((e for e in program.calls(*INITS) if not e.detached), None)
    return init is not None and event.index > init.index


def late_writes(program: Program, name: str) -> list[Related]:
    """Writes of a variable that Horovod does not see any more."""
    return [
        Related(e.location, f"`{name}` is set after `hvd.init()`, too late")
        for e in program.env(name)
        if _late(program, e)
    ]


def broadcasts(program: Program) -> list[Event]:
    """Calls that give all ranks the variables of one."""
    return [
        e for e in program.events
        if e.kind == "call" and "broadcast" in e.name.lower() and not e.name.startswith(_OTHERS)
    ]  # fmt: skip
