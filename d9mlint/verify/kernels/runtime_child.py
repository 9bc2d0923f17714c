"""Runs a kernel by CuPy or PyTorch, in the interpreter of the training environment, where d9mlint need not be.

Requests come, and replies go, as one JSON object a line on two pipes: the arguments are the package and their numbers.
"""

from __future__ import annotations

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.realpath(__file__)):  # noqa: PTH120
    del sys.path[0]  # the folder of this script is none of modules

import ctypes
import importlib
import json
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Json = dict[str, Any]

FEWEST = 5
_ORDERED = {"float32": "int32", "float64": "int64"}


def made(np: Any, one: Json, seed: int) -> Any:
    """The contents of a buffer."""
    draw, kind, shape = np.random.default_rng(seed), one["values"], one["shape"]
    if kind in ("zeros", "ones"):
        value = np.full(shape, float(kind == "ones"))
    elif kind == "normal":
        value = draw.standard_normal(shape)
    elif kind == "uniform":
        value = draw.uniform(one["low"], one["high"], shape)
    else:
        value = draw.integers(0, int(one["high"]), shape)
        value = np.sort(value, axis=0) if kind == "sorted-index" else value
    return value.astype(one["dtype"])


def is_buffer(one: Json) -> bool:
    """Whether the argument is memory."""
    return one["value"] is None


class ByCupy:
    """CuPy's ``RawModule``."""

    def __init__(self, np: Any) -> None:
        self.np, self.cupy = np, importlib.import_module("cupy")
        self.device = str(self.cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())

    def compiled(self, asked: Json) -> Any:
        """What is launched."""
        module = self.cupy.RawModule(
            code=asked["code"], options=tuple(asked["options"]), backend="nvrtc", name_expressions=(asked["name"],)
        )  # fmt: skip
        return module.get_function(asked["name"])

    def launched(self, kernel: Any, asked: Json, values: list[Any]) -> None:
        """Runs it to its end."""
        kernel(tuple(asked["grid"]), tuple(asked["block"]), tuple(values), shared_mem=asked["shared"])
        self.cupy.cuda.get_current_stream().synchronize()

    def to_device(self, value: Any) -> Any:
        """A fresh copy."""
        return self.cupy.asarray(value)

    def to_host(self, value: Any, like: Any) -> Any:
        """As NumPy has it."""
        return self.cupy.asnumpy(value)


class ByTorch:
    """PyTorch's own nvrtc (``torch.cuda._compile_kernel``, from 2.8), launched by the driver.

    PyTorch's launch takes every whole number for an ``int`` and every other one for a ``double``; here scalars have the
    type that was asked for.
    """

    def __init__(self, np: Any) -> None:
        self.np, self.torch = np, importlib.import_module("torch")
        self.compile = self.torch.cuda._compile_kernel
        self.driver = importlib.import_module("torch.cuda._utils")._get_gpu_runtime_library()
        self.device = str(self.torch.cuda.get_device_name(0))

    def compiled(self, asked: Json) -> Any:
        """What is launched."""
        kernel = self.compile(asked["code"], asked["name"], nvcc_options=list(asked["options"]))
        if asked["shared"] > LITTLE_SHARED:
            kernel.set_shared_memory_config(asked["shared"])
        return kernel

    def launched(self, kernel: Any, asked: Json, values: list[Any]) -> None:
        """Runs it to its end."""
        kept = [self._argument(value) for value in values]
        pointers = (ctypes.c_void_p * len(kept))(*(ctypes.addressof(one) for one in kept))
        sizes = [ctypes.c_uint(one) for one in (*three(asked["grid"]), *three(asked["block"]), asked["shared"])]
        stream = ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream)
        code = self.driver.cuLaunchKernel(kernel.func, *sizes, stream, pointers, None)
        if code:
            raise RuntimeError("cuLaunchKernel gave error " + str(code))
        self.torch.cuda.synchronize()

    def _argument(self, value: Any) -> Any:
        if isinstance(value, self.torch.Tensor):
            return ctypes.c_void_p(value.data_ptr())
        return ctypes.create_string_buffer(value.tobytes(), value.nbytes)

    def to_device(self, value: Any) -> Any:
        """A fresh copy, as bytes: not every type of NumPy is one of PyTorch."""
        return self.torch.from_numpy(value.reshape(-1).view("uint8").copy()).to("cuda")

    def to_host(self, value: Any, like: Any) -> Any:
        """As NumPy has it."""
        return value.cpu().numpy().view(like.dtype).reshape(like.shape)


WAYS: dict[str, Any] = {"cupy": ByCupy, "torch": ByTorch}
LITTLE_SHARED = 48 * 1024
"""Bytes of dynamic shared memory; a kernel that takes more must be told so before."""


def three(sizes: list[int]) -> list[int]:
    """The three extents of a grid or block."""
    return [*sizes, 1, 1][:3]


def observed(way: Any, np: Any, asked: Json) -> Json:
    """Runs the kernel again and again from the same buffers and compares the bits of the outputs."""
    kernel = way.compiled(asked)
    given = asked["arguments"]
    start = [made(np, one, seed) if is_buffer(one) else None for seed, one in enumerate(given)]
    results: list[int] = []
    kept: list[list[Any]] = []
    end = time.monotonic() + asked["seconds"]
    for number in range(asked["runs"]):
        values = [
            np.dtype(one["dtype"]).type(one["value"]) if begin is None else way.to_device(begin)
            for one, begin in zip(given, start)  # noqa: B905 (old interpreters)
        ]
        way.launched(kernel, asked, [value for one, value in zip(given, values) if one["passed"]])  # noqa: B905
        shown = zip(given, values, start)  # noqa: B905
        out = [way.to_host(value, begin) for one, value, begin in shown if one["output"]]
        results.append(which(kept, out))
        if number + 1 >= FEWEST and time.monotonic() > end:  # d9m: ignore[wall-clock-limit] as many as the time allows
            break
    return {"results": results, "distinct": len(kept), "elements": sum(one.size for one in kept[0]), **far(np, kept)}


def which(kept: list[list[Any]], out: list[Any]) -> int:
    """The number of the result among the distinct ones; more than 64 are not told apart."""
    mark = [one.tobytes() for one in out]
    for number, other in enumerate(kept):
        if [one.tobytes() for one in other] == mark:
            return number
    if len(kept) < 64:
        kept.append(out)
    return len(kept) - 1


def far(np: Any, kept: list[list[Any]]) -> Json:
    """How far the results lie from the first: in units in the last place, and relative to its largest element."""
    ulp, difference, largest, real = 0, 0.0, 0.0, False
    for other in kept[1:]:
        for one, two in zip(kept[0], other):  # noqa: B905
            if str(one.dtype) not in _ORDERED:
                continue
            real = True
            good = np.isfinite(one) & np.isfinite(two)
            if not good.any():
                continue
            bits = [ordered(np, each[good]) for each in (one, two)]
            ulp = max([ulp, *(abs(int(a) - int(b)) for a, b in zip(*bits))])  # noqa: B905
            difference = max(difference, float(np.abs(one[good].astype("float64") - two[good]).max()))
            largest = max(largest, float(np.abs(one[good]).max()))
    return {"max_ulp": ulp if real else None, "max_relative": difference / largest if largest else None}


def ordered(np: Any, values: Any) -> Any:
    """Neighbours among the floats become neighbours among the integers."""
    bits = values.view(_ORDERED[str(values.dtype)]).astype("object")
    lowest = -(2 ** (8 * values.dtype.itemsize - 1))
    return np.where(bits < 0, lowest - bits, bits)


def answer(package: str, asked: Json) -> Json:
    """The reply to a request."""
    np = importlib.import_module("numpy")
    way = WAYS[package](np)
    if asked["do"] == "start":
        return {"device": way.device}
    return {**observed(way, np, asked), "device": way.device}


def main() -> None:
    """Answers the requests until there are no more."""
    package, requests, replies = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with os.fdopen(requests, encoding="utf-8") as lines:
        for line in lines:
            try:
                reply = answer(package, json.loads(line))
            except Exception as error:  # noqa: BLE001 (whatever the package or the kernel does is the answer)
                reply = {"raised": type(error).__name__ + ": " + str(error)[:500]}
            os.write(replies, json.dumps(reply).encode() + b"\n")


if __name__ == "__main__":
    main()
