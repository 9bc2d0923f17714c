"""What `torch.compile` has made is one op, whatever is inside: it runs as it would untraced."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..recorder import OP

if TYPE_CHECKING:
    from ..importing import Importing

NAME = "torch.compile region"


def install(importing: Importing, ops: Any) -> None:
    """Hooks Inductor's compiled graphs, once it is imported."""
    importing.after("torch._dynamo", ops.recorder.uses)
    importing.after("torch._inductor.output_code", partial(_graphs, ops))


def _graphs(ops: Any, module: Any) -> None:
    kind = module.CompiledFxGraph
    real = kind.__call__

    def __call__(self: Any, inputs: Any) -> Any:
        recorder = ops.recorder
        if recorder.busy or recorder.worker or recorder.closed:
            return real(self, inputs)
        with recorder.apart():
            place, direction = ops._place()
            given = [one for one in inputs if isinstance(one, ops.torch.Tensor)]
            ins = ops._described(given)
            result = real(self, inputs)
            outs = [one for one in result if isinstance(one, ops.torch.Tensor)]
            ops.tell(OP, place, NAME, direction, "", ins, ops._results(outs, None), [], "", outs)
            return result

    kind.__call__ = __call__
