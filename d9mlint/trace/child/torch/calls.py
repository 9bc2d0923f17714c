"""What it takes to make a call of an op again: its arguments; tensors by type, shape and range, without contents."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..recorder import Recorder
    from .schemas import Schema

_MOST = 2000
"""Calls that are told of in a process; of those of one op on one line with equal shapes the first is."""
_LONG = 200
_PLAIN = (int, float, bool, str, type(None))


class Calls:
    """Tells of each kind of call once."""

    def __init__(self, torch: Any, recorder: Recorder) -> None:
        self._torch, self._recorder = torch, recorder
        self._told: set[Any] = set()

    def tell(self, func: Any, args: Any, kwargs: Any, schema: Schema, place: int, direction: str, shapes: Any) -> None:
        """``shapes``: of what goes in."""
        key = (func, place, direction, shapes)
        if key in self._told or len(self._told) >= _MOST:
            return
        self._told.add(key)
        names = [one.name for one in func._schema.arguments]
        given = [*zip(names, args), *kwargs.items()]  # noqa: B905 (Python 3.8)
        keywords = [one.name for one in func._schema.arguments if one.kwarg_only]
        told = [[name, name in keywords, name in schema.written, self._described(one)] for name, one in given]
        self._recorder.event("call", place, schema.name, direction, str(func), told)

    def _described(self, value: Any) -> Any:
        torch = self._torch
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, _PLAIN):
            return {"value": value}
        if isinstance(value, (list, tuple)) and len(value) <= _LONG:
            return [self._described(one) for one in value]
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return {"code": str(value)}
        if isinstance(value, torch.device):
            return {"code": "torch.device(%r)" % str(value)}  # noqa: UP031
        return {"unknown": type(value).__name__}

    def _tensor(self, tensor: Any) -> Any:
        torch = self._torch
        if tensor.layout is not torch.strided or tensor.device.type == "meta" or tensor.is_quantized:
            return {"unknown": "a tensor that is not dense"}
        found = {
            "tensor": str(tensor.dtype)[6:], "shape": list(tensor.shape), "device": tensor.device.type,
            "stride": None if tensor.is_contiguous() else list(tensor.stride()),
        }  # fmt: skip
        whole = not (tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool)
        if whole and tensor.numel():
            with suppress(NotImplementedError):  # of unsigned numbers of 16 bits and more (a state of Philox)
                found["range"] = [int(tensor.min()), int(tensor.max())]
        return found
