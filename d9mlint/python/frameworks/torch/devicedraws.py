"""Which draws of PyTorch take their numbers on a GPU: each device has a generator of its own there.

``torch.manual_seed`` seeds them all, ``torch.cuda.manual_seed`` those of the GPUs alone (torch/random.py).
"""

from __future__ import annotations

import re

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Unknown, Value, alternatives
from d9mlint.python.frameworks.torch import gpu as torchgpu
from d9mlint.python.frameworks.torch.tensors import TENSOR
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, made_of, results

GPU = "torch-device"
_CPU = re.compile(r"(cpu|meta)\b")
_FOLLOWS = re.compile(
    r"torch\.(nn\.functional\.\w+|nn\.(Alpha|FeatureAlpha)?Dropout\w*|nn\.init\.\w+|Tensor\.\w+|\w+_like|dropout|"
    r"bernoulli|multinomial|poisson|binomial|normal|distributions\..*)"
)
"""Draws that take place where their inputs are."""
_DEVICE = Argument(0, "device")
_DEFAULTS = ("torch.set_default_device", "torch.set_default_tensor_type")
_DEPTH = 6


def may_be_on_gpu(program: Program, draw: Event) -> bool:
    """Whether the numbers of a draw may come from the generator of a GPU, as far as anybody can tell."""
    device = draw.kwargs.get("device")
    if device is not None:
        return any(not _is_cpu(leaf) for _, leaf in alternatives(device))
    return bool(_FOLLOWS.fullmatch(draw.name)) and torchgpu.on_gpu(program) is not False


def surely_on_cpu(program: Program, draw: Event) -> bool:
    """Whether the numbers of a draw come from the CPU's generator: no device is named, and no input is elsewhere."""
    if any(e.name in _DEFAULTS for e in program.events):
        return False
    return _made_on_cpu(draw, results(program), _DEPTH)


def _made_on_cpu(made: Event, makers: Makers, depth: int) -> bool:
    """Whether a tensor is made on the CPU, or computed from such tensors alone."""
    device = made.kwargs.get("device")
    if device is not None:
        return all(_is_cpu(leaf) for _, leaf in alternatives(device))
    if not made.name.startswith("torch.") or made.name.endswith((".to", ".cuda")) or "cuda" in made.name or depth == 0:
        return False
    given = [one for one in (made.receiver, *made.args, *made.kwargs.values()) if isinstance(one, (Obj, Unknown))]
    tensors = [one for one in given if not isinstance(one, Obj) or one.type == TENSOR]
    if not tensors or (isinstance(tensors[0], Unknown) and not _FOLLOWS.fullmatch(made.name)):
        return not _FOLLOWS.fullmatch(made.name)  # (sizes, mostly)
    known = [next(iter(made_of(one, makers)), None) for one in tensors]
    return any(known) and all(one is not None and _made_on_cpu(one, makers, depth - 1) for one in known)


def _is_cpu(device: Value) -> bool:
    if isinstance(device, Obj) and device.type == "torch.device" and device.event is not None:
        named = device.event.argument(_DEVICE)
        return named is not None and all(_is_cpu(leaf) for _, leaf in alternatives(named))
    return isinstance(device, Const) and (device.value is None or bool(_CPU.match(str(device.value))))
