"""Uses of PyTorch's ops."""

from __future__ import annotations

from d9mlint.model import Op, OpStatus
from d9mlint.python.domain.conditions import Cond, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.opuses import OpUses
from d9mlint.python.frameworks.tensorflow.determinism import on_gpu
from d9mlint.python.frameworks.torch import gpu, mode, ops
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers


class TorchOps(OpUses):
    """Those of PyTorch, and of packages on it."""

    def on_gpu(self, program: Program) -> Cond:
        return gpu.on_gpu(program) if "torch" in frameworks_of(program) else on_gpu(program)

    def harmless(self, program: Program, event: Event, op: Op, makers: Makers) -> bool:
        return ops.harmless(event, op, makers) or gpu.left_behind(program, event)

    def likely(self, event: Event, op: Op, makers: Makers) -> bool:
        return ops.likely(event, op, makers)

    def sure(self, event: Event, op: Op, makers: Makers) -> bool:
        return ops.sure(op)

    def status(self, event: Event, op: Op, status: OpStatus, makers: Makers) -> OpStatus:
        return ops.met(event, op, status, makers)

    def chosen(self, program: Program, op: Op) -> Cond:
        return negate(mode.plain_attention(program)) if ops.chosen_by_torch(op) else True
