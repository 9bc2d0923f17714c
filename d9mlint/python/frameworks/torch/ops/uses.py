"""Uses of PyTorch's ops."""

from __future__ import annotations

from d9mlint.model import Argument, Op, OpStatus
from d9mlint.python.domain.conditions import Cond, both, either, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Inst, Obj, alternatives
from d9mlint.python.frameworks.opuses import OpUses
from d9mlint.python.frameworks.tensorflow.devices import on_gpu
from d9mlint.python.frameworks.torch import gpu, mode, ops
from d9mlint.python.frameworks.torch.modules import uncalled, wrappers
from d9mlint.python.frameworks.torch.ops import pooling
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.program import Program, matches
from d9mlint.python.interpreter.provenance import Makers


class TorchOps(OpUses):
    """Those of PyTorch, and of packages on it."""

    def on_gpu(self, program: Program) -> Cond:
        return gpu.on_gpu(program) if "torch" in frameworks_of(program) else on_gpu(program)

    def harmless(self, program: Program, event: Event, op: Op, makers: Makers) -> bool:
        once = pooling.puts_each_once(program, op)
        idle = gpu.left_behind(program, event) or uncalled.only_weights_read(program, event)
        idle = idle or uncalled.never_run(program, event)
        return once or ops.harmless(event, op, makers) or idle

    def likely(self, event: Event, op: Op, makers: Makers) -> bool:
        return ops.likely(event, op, makers)

    def sure(self, event: Event, op: Op, makers: Makers) -> bool:
        return ops.sure(op)

    def status(self, event: Event, op: Op, status: OpStatus, makers: Makers) -> OpStatus:
        return ops.met(event, op, status, makers)

    def chosen(self, program: Program, op: Op) -> Cond:
        if op.name == ops.COMPILED:
            return program.once("networks-by-inductor", _by_inductor)
        if op.name == ops.OF_TRANSFORMERS and not program.target.fits("transformers", ">=4.36"):
            return False
        return negate(mode.plain_attention(program)) if ops.chosen_by_torch(op) else True


_COMPILES = (wrappers.COMPILE, wrappers.IN_PLACE)


def _by_inductor(program: Program) -> Cond:
    """When a network is compiled, by the compiler that PyTorch takes by default."""
    found: list[Cond] = []
    for event in program.calls(*_COMPILES):
        network = event.receiver if event.name == _COMPILES[1] else event.argument(Argument(0, "model"))
        backend = event.kwargs.get("backend")
        own = any(isinstance(leaf, (Inst, Obj)) for _, leaf in alternatives(network))
        if own and not event.detached and (backend is None or matches(backend, "inductor") is not False):
            found.append(both(*event.guards))
    return either(*found)
