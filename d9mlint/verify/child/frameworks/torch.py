"""PyTorch, eager or compiled by ``torch.compile``."""

from __future__ import annotations

import ctypes
import importlib
import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from .base import SEED, Framework, flattened

if TYPE_CHECKING:
    from collections.abc import Callable

    from .base import Json, Output


class Torch(Framework):
    """Deterministic mode is ``torch.use_deterministic_algorithms(True)``."""

    def __init__(self, start: Json) -> None:
        super().__init__(start)
        if start["mode"] == "deterministic":
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # torch asks for it on CUDA
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # no pool of workers beside each process
        self.torch = torch = importlib.import_module("torch")
        if start["threads"]:
            torch.set_num_threads(start["threads"])
        torch.use_deterministic_algorithms(start["mode"] == "deterministic")
        if start.get("variant"):
            torch.backends.cudnn.benchmark = start["variant"] == "benchmark"
            if start["variant"] != "benchmark":
                for one in (torch.backends.cuda.matmul, torch.backends.cudnn):
                    one.allow_tf32 = start["variant"] == "tf32"
        self.names = [self._name(number) for number in range(torch.cuda.device_count())]
        self.device = "cuda" if self.gpu else "cpu"

    def _name(self, number: int) -> str:
        """What a GPU is called; asking for it makes a context, which a card that is busy or broken refuses."""
        try:
            return str(self.torch.cuda.get_device_name(number))
        except RuntimeError:
            return "GPU"

    def versions(self) -> Json:
        """What the results depend on."""
        torch = self.torch
        known = {"torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}
        known["rocm"] = getattr(torch.version, "hip", None)
        return {key: str(value) for key, value in known.items() if value is not None}

    def for_gpus(self) -> bool:
        """Whether it was built with CUDA or ROCm."""
        return bool(self.torch.version.cuda or getattr(self.torch.version, "hip", None))

    def settings(self) -> Json:
        """As they are in this process."""
        cuda, cudnn = self.torch.backends.cuda.matmul, self.torch.backends.cudnn
        return {"allow_tf32": cuda.allow_tf32, "cudnn.allow_tf32": cudnn.allow_tf32, "cudnn.benchmark": cudnn.benchmark}

    def begin(self, case: Json) -> None:
        """What was compiled for other cases goes: after a few of them ``torch.compile`` would run eagerly."""
        if case["execution"] == "compiled":
            self.torch.compiler.reset()

    def reset(self, seed: int) -> None:
        """Every generator that an op may draw from starts anew."""
        super().reset(seed)
        self.torch.manual_seed(seed)

    def tensor(self, spec: Json, seed: int) -> Any:
        """An input, drawn by torch, which may have no NumPy beside it."""
        torch, shape, kind = self.torch, spec["shape"], spec["values"]
        draw = torch.Generator().manual_seed(seed)
        if kind == "normal":
            value = torch.randn(shape, generator=draw, dtype=torch.float64)
        elif kind == "uniform":
            span = spec["high"] - spec["low"]
            value = torch.rand(shape, generator=draw, dtype=torch.float64) * span + spec["low"]
        elif kind in ("zeros", "ones"):
            value = torch.full(shape, float(kind == "ones"))
        else:
            value = torch.randint(0, spec["below"], shape, generator=draw)
            value = torch.sort(value, dim=0).values if kind == "sorted-index" else value
        return value.to(getattr(torch, spec["dtype"])).to(self.device)

    def placed(self, value: Any) -> Any:
        """A tensor on the device; every run is given a copy, as the call may write to it."""
        return value.detach().to(self.device) if isinstance(value, self.torch.Tensor) else None

    def names_for(self, code: Any) -> Json:
        """The modules that an expression may name."""
        return {"torch": self.torch}

    def function(self, case: Json, inputs: Json, scope: Json) -> Callable[[], list[Any]]:
        """The case as a call without arguments; every run has leaves of its own."""
        torch, targets = self.torch, case["targets"]
        upstream: list[Any] = []
        modules = {key: value.to(self.device) for key, value in scope.items() if isinstance(value, torch.nn.Module)}
        scope = {**scope, **modules}
        forward = eval("lambda " + ", ".join(inputs) + ": (" + case["run"] + ")", scope)
        if case["execution"] == "compiled":
            forward = torch.compile(forward, dynamic=False)

        def call() -> list[Any]:
            leaves = {}
            for name, value in inputs.items():
                real = bool(targets) and (value.is_floating_point() or value.is_complex())
                leaf = value.detach().clone() if case.get("file") else value.detach()
                leaves[name] = leaf.requires_grad_(real)
            with self._casting(case):
                results = flattened(forward(**leaves))
            if not targets:
                return self.parts(results)
            names = {**scope, **leaves}
            wanted = [one for target in targets for one in flattened(eval(target, names))]
            real = [one for one in results if one.requires_grad]
            for number in range(len(upstream), len(real)):
                drawn = {"shape": list(real[number].shape), "values": "normal"}
                drawn["dtype"] = self.dtype_of(real[number])
                upstream.append(self.tensor(drawn, SEED + 1 + number))
            gradients = list(torch.autograd.grad(real, wanted, upstream))
            return self.parts(results + gradients if case["direction"] == "both" else gradients)

        return call

    def _casting(self, case: Json) -> Any:
        """Autocast, where the case has it."""
        wanted = case.get("autocast")
        return self.torch.autocast(self.device, dtype=getattr(self.torch, wanted)) if wanted else nullcontext()

    def parts(self, tensors: list[Any]) -> list[Any]:
        """Dense tensors: the indices and values of sparse ones, which ``to_dense`` would add in an order of its own."""
        found = []
        for one in tensors:
            sparse = one.layout == self.torch.sparse_coo
            found += [one._indices(), one._values()] if sparse else [one.int_repr() if one.is_quantized else one]
        return [one.detach() for one in found]

    def output(self, tensor: Any) -> Output:
        """The dtype of a tensor and its bytes."""
        dense = tensor.resolve_conj().resolve_neg().cpu().contiguous()
        size = dense.numel() * dense.element_size()
        return self.dtype_of(dense), ctypes.string_at(dense.data_ptr(), size) if size else b""

    def dtype_of(self, tensor: Any) -> str:
        """The name of its dtype."""
        return str(tensor.dtype).replace("torch.", "")

    def words(self, tensor: Any) -> Any:
        """The bits as int64 words."""
        torch, dense = self.torch, tensor.resolve_conj().resolve_neg()
        dense = torch.view_as_real(dense) if dense.is_complex() else dense
        narrow = {1: torch.uint8, 2: torch.int16}.get(dense.element_size(), torch.int32)
        return dense.contiguous().reshape(-1).view(narrow).to(torch.int64)

    def int64(self, data: bytes) -> Any:
        """An int64 array on the device."""
        return self.torch.frombuffer(bytearray(data), dtype=self.torch.int64).to(self.device)

    def finish(self, results: list[Any]) -> None:
        """Waits for the GPU."""
        if self.gpu:
            self.torch.cuda.synchronize()

    def elapsed(self, call: Callable[[], list[Any]], count: int) -> float:
        """Seconds that ``count`` calls take: on a GPU as its own events tell, so without the way to the host."""
        if not self.gpu:
            return super().elapsed(call, count)
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(count):
            call()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) / 1000
