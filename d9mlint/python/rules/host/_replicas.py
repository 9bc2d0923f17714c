"""Draws of networks in `DataParallel`, whose replicas are threads that share the generators of the process.

With several GPUs each replica runs in a `threading.Thread` of its own (torch/nn/parallel/parallel_apply.py of
2.13.0); with one the network is called as it is (torch/nn/parallel/data_parallel.py, `DataParallel.forward`).
"""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import GENERATORS, Argument, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either, is_symbolic, stated
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Seq, Value, alternatives
from d9mlint.python.frameworks.torch import gpu as torchgpu
from d9mlint.python.frameworks.torch.devicedraws import surely_on_cpu
from d9mlint.python.frameworks.torch.modules.wrappers import REPLICAS, spreads
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.randomness import Draw, draws

_DEVICES = Argument(1, "device_ids")
_SEVERAL = "more than one GPU is used"
_REMEDY = (
    "draw on the device that the replica computes on, where each GPU has a generator of its own: "
    "`torch.randn(..., device=x.device)`; or draw before the network is called and hand it the numbers; or take "
    "`DistributedDataParallel`, which runs a process for each GPU"
)


def of_replicas(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first draw of a network's replicas from a generator that they share."""
    found = [one for one in draws(program) if one.event.inside(REPLICAS) and _is_shared(program, one)]
    if not found:
        return
    cond = both(torchgpu.on_gpu(program), _several(program))
    first = found[0]
    meeting = [one for one in found if one.event.location == first.event.location and both(cond, *one.event.guards)]
    if not is_symbolic(cond) or not meeting:
        return
    others = {one.event.location: one for one in found if one.event.location != first.event.location}
    related = [
        Related(place, f"`{one.event.raw}` draws from {GENERATORS[one.generator]}") for place, one in others.items()
    ]
    for one in meeting:  # (in whichever call of the network: drafts of one place and text are merged)
        yield draft(
            program, rule, one.event, cond=both(cond, one.cond), remedy=_REMEDY, related=related,
            who="the replicas of `DataParallel`, which are threads, draw", draw=one.event.raw, which="replica",
        )  # fmt: skip


def _is_shared(program: Program, one: Draw) -> bool:
    """Whether a draw takes numbers from a generator of the process while the network runs, not one of a GPU."""
    if one.implicit or one.worker or one.unseen or one.event.detached or one.generator not in GENERATORS:
        return False
    return one.generator in ("python", "numpy") or (one.generator == "torch" and surely_on_cpu(program, one.event))


def _several(program: Program) -> Cond:
    """When any network is spread over more than one GPU."""
    made = (e for e in program.events if e.kind == "call" and _makes(e) and not e.detached)
    return either(*(both(*one.guards, _of_devices(one.argument(_DEVICES))) for one in made))


def _makes(event: Event) -> bool:
    return spreads(event) and event.name.endswith(("DataParallel", ".__init__"))


def _of_devices(given: Value | None) -> Cond:
    """When a list of devices has more than one; without a list all are used that there are."""
    if given is None:
        return stated(_SEVERAL)
    return either(*(both(cond, _of_list(leaf)) for cond, leaf in alternatives(given)))


def _of_list(leaf: Value) -> Cond:
    if isinstance(leaf, Seq) and leaf.items is not None:
        return len(leaf.items) > 1
    nothing = isinstance(leaf, Const) and leaf.value is not None  # (a number is no list: it raises)
    return False if nothing else stated(_SEVERAL)
