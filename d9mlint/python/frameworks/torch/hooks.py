"""What PyTorch means to the interpreter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Const, Func, Inst, Obj, Seq, Value
from d9mlint.python.frameworks.torch import (
    detectron,
    devicetests,
    edges,
    lightning,
    loaders,
    mmcv,
    mmengine,
    streams,
    tensors,
)
from d9mlint.python.frameworks.torch.modules import containers, functions, loaded, members, timm, wrappers
from d9mlint.python.interpreter.hooks import Framework, Transfer
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.source import facts as f

_TENSORS_OF = ("torch.tensor", "torch.as_tensor")


def _is_available(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """What the machine says that the program is judged for."""
    return Const(interp.target.device == "gpu")


def _same_on_all_ranks(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``hvd.broadcast(torch.tensor(epoch), root_rank=0).item()``: the number that the first rank has."""
    sent = event.receiver.event if isinstance(event.receiver, Obj) else None
    held = sent.args[0] if sent is not None and sent.args else None
    made = held.event if isinstance(held, Obj) else None
    given = made.args[0] if made is not None and made.name in _TENSORS_OF and made.args else None
    return None if isinstance(given, Seq) else given


class Torch(Framework):
    """PyTorch; keeps what is known of the data loaders of the program."""

    transfer: ClassVar[Mapping[str, Transfer]] = {
        "torch.cuda.is_available": _is_available,
        "torch.accelerator.is_available": _is_available,
        "horovod.torch.broadcast().item": _same_on_all_ranks,
        "torch.utils.data.get_worker_info": loaders.worker_info,
        **containers.TRANSFER,
        **detectron.TRANSFER,
        **edges.TRANSFER,
        **functions.TRANSFER,
        **lightning.TRANSFER,
        **members.TRANSFER,
        **mmcv.TRANSFER,
        **mmengine.TRANSFER,
        **timm.TRANSFER,
        **wrappers.TRANSFER,
    }
    packages = frozenset({"lightning", "pytorch_lightning", "torchtnt", "torchvision"})
    protocol = frozenset(
        {"forward", "__getitem__", "__iter__", "__len__", "__next__", "__call__"}
        | {"compute_forward", "compute_objectives", "fit_batch", "run_step"}  # of SpeechBrain, and Detectron2
    )
    arrays: tuple[str, ...] = (tensors.TENSOR,)
    parts_alike = frozenset({tensors.TENSOR, "torch.utils.data.Subset"})
    items_alike = frozenset({"datasets.Dataset"})
    views = frozenset(f"{tensors.TENSOR}.{name}" for name in ("T", "H", "mT", "mH"))
    same_numbers: tuple[str, ...] = _TENSORS_OF
    numeric: tuple[str, ...] = (".numpy",)  # (no tensor of PyTorch holds text)
    on_use = frozenset({loaders.LOADER, loaders.PART})
    rank_first = frozenset({"torch.multiprocessing.spawn"})  # torch/multiprocessing/spawn.py
    never_text = frozenset({devicetests.DEVICE})
    plain_bases = frozenset({"torch.nn.Module", "torch.utils.data.Dataset", "torch.utils.data.IterableDataset"})
    network_bases = frozenset({"torch.nn.Module"})
    asking = frozenset({"torch.nn.Module.state_dict"})
    layers: tuple[str, ...] = ("torch.nn.",)
    runs: tuple[str, ...] = ("forward",)

    def __init__(self) -> None:
        self._loaders = loaders.Loaders()

    def subscript(self, holder: Value, index: Value) -> Value | None:
        return tensors.of_state(holder) or containers.item(holder, index)

    def part(self, holder: Value) -> Value | None:
        return containers.part(holder)

    def arithmetic(self, operands: Sequence[Value]) -> Value | None:
        return tensors.computed(operands)

    def result(self, event: Event, origins: frozenset[str]) -> Value | None:
        return tensors.of_layer(event, origins)

    def method_of_unknown(self, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> str | None:
        return f"{tensors.TENSOR}.{name}" if name in tensors.IN_PLACE else None

    def constructs(self, interp: Interpreter, event: Event, frame: Frame) -> Value | None:
        return loaded.constructed(interp, event, frame)

    def parameters(self, interp: Interpreter, func: Func, frame: Frame) -> None:
        tensors.type_parameters(interp, func, frame)

    def given(
        self, interp: Interpreter, func: Func, args: list[Value], kwargs: dict[str, Value], frame: Frame, place: f.Place
    ) -> tuple[list[Value], dict[str, Value], bool] | None:  # fmt: skip
        return detectron.explicit(interp, func, args, kwargs, frame, place)

    def contexts(self, interp: Interpreter, func: Func, decorators: Sequence[tuple[Value, str]]) -> Iterable[str]:
        if any(name in tensors.NO_GRADIENTS for _, name in decorators) or func.name in tensors.EVALUATIONS:
            yield tensors.NO_GRAD
        if tensors.LOADING not in interp.contexts and tensors.loads(func):
            yield tensors.LOADING
        if wrappers.COMPILED not in interp.contexts and wrappers.is_compiled(interp, func, decorators):
            yield wrappers.COMPILED

    def enters(self, event: Event) -> str | None:
        if event.name in tensors.NO_GRADIENTS:
            return tensors.NO_GRAD
        if event.name in tensors.AUTOCASTS:
            return tensors.autocast(event)
        if event.name in tensors.CHOOSING_ATTENTION:
            return tensors.attention(event)
        return streams.opens(event)

    def branch(self, interp: Interpreter, node: f.If, frame: Frame) -> None:
        devicetests.note(interp, node, frame)

    def made(self, interp: Interpreter, event: Event, frame: Frame) -> None:
        self._loaders.note(interp, event, frame)

    def called(self, interp: Interpreter, event: Event, frame: Frame, place: f.Place) -> None:
        self._loaders.use_called(interp, event, frame, place)

    def iterates(self, interp: Interpreter, value: Value, frame: Frame, place: f.Place) -> None:
        self._loaders.iterate(interp, value, frame, place)

    def handed(self, interp: Interpreter, instance: Inst, frame: Frame, place: f.Place) -> frozenset[str]:
        return self._loaders.hand(interp, instance, frame, place)

    def finish(self, interp: Interpreter) -> None:
        containers.finish(interp)
        wrappers.finish(interp)
        self._loaders.finish(interp)
