"""Which draws of PyTorch take their numbers on a GPU: each device has a generator of its own there.

``torch.manual_seed`` seeds them all, ``torch.cuda.manual_seed`` those of the GPUs alone (torch/random.py).
"""

from __future__ import annotations

import re

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Value, alternatives
from d9mlint.python.frameworks.torch import gpu as torchgpu
from d9mlint.python.interpreter.program import Program

GPU = "torch-device"
_CPU = re.compile(r"(cpu|meta)\b")
_FOLLOWS = re.compile(
    r"torch\.(nn\.functional\.\w+|nn\.(Alpha|FeatureAlpha)?Dropout\w*|nn\.init\.\w+|Tensor\.\w+|\w+_like|dropout|"
    r"bernoulli|multinomial|poisson|binomial|normal|distributions\..*)"
)
"""Draws that take place where their inputs are."""
_DEVICE = Argument(0, "device")


def may_be_on_gpu(program: Program, draw: Event) -> bool:
    """Whether the numbers of a draw may come from the generator of a GPU, as far as anybody can tell."""
    device = draw.kwargs.get("device")
    if device is not None:
        return any(not _is_cpu(leaf) for _, leaf in alternatives(device))
    return bool(_FOLLOWS.fullmatch(draw.name)) and torchgpu.on_gpu(program) is not False


def _is_cpu(device: Value) -> bool:
    if isinstance(device, Obj) and device.type == "torch.device" and device.event is not None:
        named = device.event.argument(_DEVICE)
        return named is not None and all(_is_cpu(leaf) for _, leaf in alternatives(named))
    return isinstance(device, Const) and (device.value is None or bool(_CPU.match(str(device.value))))
