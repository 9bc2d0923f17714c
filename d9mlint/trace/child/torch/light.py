"""The light probe of PyTorch: a digest of the loss at each backward and of the parameters after each step."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .. import sampling
from ..tensors import Digests

if TYPE_CHECKING:
    from ..recorder import Recorder
    from ..stepping import Steps


class _Light:
    def __init__(self, torch: Any, recorder: Recorder, steps: Steps, summed: bool) -> None:
        self._torch, self._recorder, self._steps = torch, recorder, steps
        self._digests = Digests(torch, summed)
        self._samples = sampling.Joined()

    def stepped(self, optimizer: Any) -> None:
        """After a step of any optimizer."""
        recorder = self._recorder
        if recorder.worker:
            return
        self._steps.again()
        with recorder.apart():
            tensors = [one for group in optimizer.param_groups for one in group["params"]]
            text = self._told(tensors)
        self._steps.keep(lambda: [one.detach().reshape(-1).double().tolist() for one in tensors])
        self._steps.stepped(type(optimizer).__name__, text)

    def _told(self, tensors: Any) -> str:
        """A digest of the parameters; a sample of them is written down."""
        data = self._digests.joined(tensors)
        dtype = str(tensors[0].dtype)[6:] if data else ""
        if dtype in sampling.SIMPLE:
            self._samples.told(self._recorder, dtype, tuple([one.numel() for one in tensors]), data)
            return self._digests.hash(data)
        sampling.of_torch(self._torch, self._recorder, [one for one in tensors if self._digests.readable(one)])
        return self._digests.several(tensors) if tensors else ""

    def lost(self, tensors: Any) -> None:
        """Before a backward: what it starts from, where that is a number."""
        recorder = self._recorder
        several = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
        if recorder.worker or not all(isinstance(one, self._torch.Tensor) for one in several):
            return
        with recorder.apart():
            for one in several:
                if one.numel() == 1:
                    value = float(one.detach()) if one.dtype.is_floating_point else 0.0
                    recorder.event("loss", self._digests(one), value.hex(), str(one.dtype)[6:])


def install(torch: Any, recorder: Recorder, steps: Steps, settings: Any) -> None:
    """Hooks the optimizers and the backward of an imported PyTorch."""
    recorder.event("uses", "torch", str(torch.__version__), torch.get_num_threads(), bool(torch.cuda.is_available()))
    light = _Light(torch, recorder, steps, bool(settings.get("summed")))

    def stepped(optimizer: Any, args: Any, kwargs: Any) -> None:
        light.stepped(optimizer)

    stepped._torchdynamo_disable = True  # type: ignore[attr-defined]
    register = getattr(sys.modules[torch.optim.Optimizer.__module__], "register_optimizer_step_post_hook", None)
    if register is None:
        recorder.event("note", "this PyTorch has no hooks of optimizers: steps are not seen")
    else:
        register(stepped)
    real = torch.autograd.backward

    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        light.lost(tensors)
        return real(tensors, *args, **kwargs)

    backward.__doc__, backward.__wrapped__ = real.__doc__, real  # type: ignore[attr-defined]
    torch.autograd.backward = backward
