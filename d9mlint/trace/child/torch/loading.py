"""Where data comes into PyTorch: arrays that become tensors, batches of a loader's workers, seeds, backwards."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..recorder import ENTRY, digest

if TYPE_CHECKING:
    from ..importing import Importing
    from ..wrapping import Wrapping


def install(importing: Importing, ops: Any, wrapping: Wrapping) -> None:
    """Hooks the doors of an imported PyTorch."""
    torch = ops.torch
    for name in ("from_numpy", "as_tensor"):
        wrapping.replace(torch, name, partial(_entering, ops, "torch." + name))
    seeding = partial(_seeding, ops)
    wrapping.replace(torch, "manual_seed", seeding)
    torch.random.manual_seed = torch.manual_seed
    wrapping.replace(torch, "seed", seeding)
    torch.random.seed = torch.seed
    wrapping.replace(torch.autograd, "backward", partial(_backward, ops))
    importing.after("torch.utils.data.dataloader", partial(_batches, ops, wrapping))


def _entering(ops: Any, name: str, real: Any) -> Any:
    """Arrays and lists that become tensors; inside compiled code it is left alone."""

    def enter(data: Any, *args: Any, **kwargs: Any) -> Any:
        recorder = ops.recorder
        if (
            recorder.busy
            or recorder.worker
            or recorder.closed
            or isinstance(data, ops.torch.Tensor)
            or ops._compiling()
        ):
            return real(data, *args, **kwargs)
        place = recorder.place()
        result = real(data, *args, **kwargs)
        with recorder.apart():
            told(ops, place, name, [result])
        return result

    enter._torchdynamo_disable = True  # type: ignore[attr-defined]
    return enter


def told(ops: Any, place: int, name: str, tensors: list[Any]) -> None:
    """Writes down that tensors have come in."""
    ins = ops._described(tensors)
    bag = digest(",".join(map(ops.digests.bag, tensors)))
    ops.tell(ENTRY, place, name, "", "", [[*one[:3], 0] for one in ins], [one[0] for one in ins], [], bag, tensors)


def _seeding(ops: Any, real: Any) -> Any:
    def seed(*args: Any, **kwargs: Any) -> Any:
        recorder = ops.recorder
        given = [*args, *kwargs.values()]
        if not recorder.busy and not recorder.closed:
            text = repr(given[0])[:80] if given else ""
            name = "torch." + str(real.__name__)
            recorder.event("seed", recorder.place(), "torch", name, digest(text) if text else "", text)
        return real(*args, **kwargs)

    return seed


def _backward(ops: Any, real: Any) -> Any:
    """Ops of a backward that no forward op is known for are on the line that asks for it."""

    def backward(*args: Any, **kwargs: Any) -> Any:
        local = ops.recorder.local
        local.backward = ops.backward = ops.recorder.place()
        try:
            return real(*args, **kwargs)
        finally:
            local.backward = 0

    return backward


def _batches(ops: Any, wrapping: Wrapping, module: Any) -> None:
    """What workers hand over comes in at the line of the program that asks for it."""

    def made(real: Any) -> Any:
        def __next__(self: Any) -> Any:
            recorder = ops.recorder
            if not getattr(self, "_num_workers", 0) or recorder.worker:
                return real(self)
            recorder.local.loading = True
            try:
                batch = real(self)
            finally:
                recorder.local.loading = False
            if not recorder.closed:
                place = recorder.place()
                with recorder.apart():
                    told(ops, place, "a batch of the loader's workers", list(inside(ops.torch, batch)))
            return batch

        return __next__

    wrapping.replace(module._BaseDataLoaderIter, "__next__", made)
    for kind in (module._SingleProcessDataLoaderIter, module._MultiProcessingDataLoaderIter):
        if "__next__" in vars(kind):
            wrapping.replace(kind, "__next__", made)


def inside(torch: Any, value: Any) -> Any:
    """The tensors in nested lists and mappings."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from inside(torch, one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from inside(torch, one)
