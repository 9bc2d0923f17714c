"""Runs op cases; started by the interpreter of the training environment, where d9mlint need not be installed.

One file on purpose: it is all that the other interpreter sees, beside the standard library and the framework. Requests
come, and replies go, as one JSON object a line on two pipes whose descriptors are the arguments: what a framework
prints cannot get in between. One process is one framework, one number of threads and one mode; every case runs in it,
so that the framework is imported once.
"""

from __future__ import annotations

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.realpath(__file__)):  # noqa: PTH120
    del sys.path[0]  # the folder of this script: its modules must not stand in for others

import ctypes
import hashlib
import importlib
import json
import math
import platform
import random
import signal
import struct
import time
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # training environments have old interpreters, whose types cannot be subscribed
    from collections.abc import Callable

    Json = dict[str, Any]
    Output = tuple[str, bytes]

SEED = 20261121
FEWEST = 5
"""Runs that are made even if the time for a case is over."""
COMPARED = 8
"""Distinct results that are compared with the first, number by number."""
_FORMATS = {"float16": ("e", "h"), "bfloat16": ("", "h"), "float32": ("f", "i"), "float64": ("d", "q")}
_FORMATS["complex64"] = ("f", "i")


class NoDevice(Exception):
    """The device that was asked for is not there."""


class Tensorflow:
    """TensorFlow (2.x): eager, as ``tf.function``, or compiled by XLA."""

    def __init__(self, start: Json) -> None:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        os.environ["KERAS_BACKEND"] = "tensorflow"
        if start["mode"] == "deterministic":
            os.environ["TF_DETERMINISTIC_OPS"] = "1"  # the switch from 2.1 to 2.7
        self.tf = tf = importlib.import_module("tensorflow")
        self.np = importlib.import_module("numpy")
        if start["threads"]:
            tf.config.threading.set_intra_op_parallelism_threads(start["threads"])
            tf.config.threading.set_inter_op_parallelism_threads(start["threads"])
        gpus = tf.config.list_physical_devices("GPU")
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
        switch = getattr(tf.config.experimental, "enable_op_determinism", None)  # from 2.8 on
        if start["mode"] == "deterministic" and switch is not None:
            switch()
        self.names = [str(tf.config.experimental.get_device_details(gpu).get("device_name", "GPU")) for gpu in gpus]
        self.device = "/GPU:0" if start["device"] == "gpu" else "/CPU:0"

    def versions(self) -> Json:
        """What the results depend on."""
        build = self.tf.sysconfig.get_build_info()
        known = {"tensorflow": self.tf.__version__, "keras": self.tf.keras.__version__, "numpy": self.np.__version__}
        return {**known, **{key: str(build[key]) for key in ("cuda_version", "cudnn_version") if key in build}}

    def reset(self, seed: int) -> None:
        """Every generator that an op may draw from starts anew."""
        random.seed(seed)
        self.np.random.seed(seed)
        self.tf.random.set_seed(seed)

    def tensor(self, spec: Json, seed: int) -> Any:
        """An input."""
        np, shape = self.np, spec["shape"]
        draw, kind = np.random.default_rng(seed), spec["values"]
        if kind == "normal":
            value = draw.standard_normal(shape)
        elif kind == "uniform":
            value = draw.uniform(spec["low"], spec["high"], shape)
        elif kind in ("zeros", "ones"):
            value = np.full(shape, float(kind == "ones"))
        else:
            value = draw.integers(0, spec["below"], shape)
            value = np.sort(value, axis=0) if kind == "sorted-index" else value
        return self.tf.cast(self.tf.constant(value), spec["dtype"])

    def names_for(self, code: Any) -> Json:
        """The modules that an expression may name."""
        keras = {"keras": importlib.import_module("keras")} if "keras" in code.co_names else {}
        return {"tf": self.tf, "np": self.np, **keras}

    def function(self, case: Json, inputs: Json, scope: Json) -> Callable[[], list[Output]]:
        """The case as a call without arguments; the inputs are arguments of the graph, so nothing is folded."""
        tf, run, targets = self.tf, case["code"], case["targets"]
        given = list(inputs)

        def forward(values: Json) -> tuple[Any, Any]:
            names = {**scope, **values}
            with tf.GradientTape() as tape:
                for name in given:
                    if values[name].dtype.is_floating or values[name].dtype.is_complex:
                        tape.watch(values[name])
                results = self._flat(eval(run, names))
            return tape, (results, [self._flat(eval(target, names)) for target in targets])

        def body(values: Json, upstream: Any) -> Any:
            tape, (results, wanted) = forward(values)
            if not targets:
                return results
            flat = [one for several in wanted for one in several]
            real = [one for one in results if one.dtype.is_floating or one.dtype.is_complex]
            found = tape.gradient(real, flat, output_gradients=upstream)
            if any(one is None for one in found):
                raise ValueError("no gradient reaches what the case differentiates by")
            gradients = self._flat(found)
            return results + gradients if case["direction"] == "both" else gradients

        if case["execution"] != "eager" or targets:
            with tf.device(self.device):
                _, (results, _) = forward(inputs)  # layers make their variables here, outside of any graph
        upstream = []
        if targets:
            real = [one for one in results if one.dtype.is_floating or one.dtype.is_complex]
            for number, one in enumerate(real):
                drawn = {"shape": one.shape.as_list(), "values": "normal", "dtype": one.dtype.name}
                upstream.append(self.tensor(drawn, SEED + 1 + number))
        graph: Any = body
        if case["execution"] != "eager":
            graph = tf.function(body, jit_compile=case["execution"] == "xla" or None, autograph=False)

        def call() -> list[Output]:
            with tf.device(self.device):
                return [(one.dtype.name, one.numpy().tobytes()) for one in graph(inputs, upstream)]

        return call

    def _flat(self, value: Any) -> Any:
        """Tensors alone: the sum of an ``IndexedSlices`` is what an optimizer would make of it."""
        tf = self.tf
        whole = [
            tf.convert_to_tensor(one) if isinstance(one, tf.IndexedSlices) else one
            for one in (value if isinstance(value, (list, tuple)) else [value])
        ]
        flat = [one for one in tf.nest.flatten(whole, expand_composites=True) if one is not None]
        return [one if tf.is_tensor(one) or isinstance(one, tf.Variable) else tf.convert_to_tensor(one) for one in flat]


class Torch:
    """PyTorch, eager."""

    def __init__(self, start: Json) -> None:
        if start["mode"] == "deterministic":
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # torch asks for it on CUDA
        self.torch = torch = importlib.import_module("torch")
        if start["threads"]:
            torch.set_num_threads(start["threads"])
        torch.use_deterministic_algorithms(start["mode"] == "deterministic")
        self.names = [torch.cuda.get_device_name(n) for n in range(torch.cuda.device_count())]
        self.device = "cuda" if start["device"] == "gpu" else "cpu"

    def versions(self) -> Json:
        """What the results depend on."""
        torch = self.torch
        known = {"torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}
        return {key: str(value) for key, value in known.items() if value is not None}

    def reset(self, seed: int) -> None:
        """Every generator that an op may draw from starts anew."""
        random.seed(seed)
        self.torch.manual_seed(seed)

    def tensor(self, spec: Json, seed: int) -> Any:
        """An input: drawn on the CPU in float64, so that it is the same on every device."""
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

    def names_for(self, code: Any) -> Json:
        """The modules that an expression may name."""
        return {"torch": self.torch}

    def function(self, case: Json, inputs: Json, scope: Json) -> Callable[[], list[Output]]:
        """The case as a call without arguments; every run has leaves of its own."""
        torch, run, targets = self.torch, case["code"], case["targets"]
        upstream: list[Any] = []
        scope = {key: value.to(self.device) if hasattr(value, "parameters") else value for key, value in scope.items()}

        def call() -> list[Output]:
            leaves = {}
            for name, value in inputs.items():
                real = bool(targets) and (value.is_floating_point() or value.is_complex())
                leaves[name] = value.detach().requires_grad_(real)
            names = {**scope, **leaves}
            results = self._flat(eval(run, names))
            found: Any = results
            if targets:
                wanted = [one for target in targets for one in self._flat(eval(target, names))]
                real = [one for one in results if one.requires_grad]
                for number in range(len(upstream), len(real)):
                    drawn = {"shape": list(real[number].shape), "values": "normal"}
                    drawn["dtype"] = str(real[number].dtype).replace("torch.", "")
                    upstream.append(self.tensor(drawn, SEED + 1 + number))
                gradients = list(torch.autograd.grad(real, wanted, upstream))
                found = results + gradients if case["direction"] == "both" else gradients
            return [self._bytes(one) for one in found]

        return call

    def _flat(self, value: Any) -> Any:
        if hasattr(value, "detach"):
            return [value]
        return [one for part in value for one in self._flat(part)]

    def _bytes(self, tensor: Any) -> Output:
        dense = tensor.to_dense() if tensor.is_sparse else tensor
        dense = dense.detach().cpu().contiguous()
        size = dense.numel() * dense.element_size()
        return str(dense.dtype).replace("torch.", ""), ctypes.string_at(dense.data_ptr(), size) if size else b""


FRAMEWORKS: dict[str, Any] = {"tensorflow": Tensorflow, "torch": Torch}


def prepared(framework: Any, case: Json) -> tuple[Callable[[], list[Output]], str]:
    """The case, ready to be called, and a hash of what its inputs are made from; the last one is kept."""
    asked = json.dumps(case, sort_keys=True)
    if getattr(framework, "last", None) is None or framework.last[0] != asked:
        framework.last = None  # its memory goes before the next one takes some
        framework.last = (asked, *_prepared(framework, case))
    return framework.last[1:]  # type: ignore[no-any-return]


def _prepared(framework: Any, case: Json) -> tuple[Callable[[], list[Output]], str]:
    framework.reset(SEED)
    inputs, state = {}, hashlib.blake2b(digest_size=8)
    for given in case["inputs"]:
        spec = {**given, "dtype": given["dtype"] or case["dtype"]}
        inputs[spec["name"]] = framework.tensor(spec, SEED ^ zlib.crc32((case["op"] + spec["name"]).encode()))
        state.update(json.dumps(spec, sort_keys=True).encode())
    scope: Json = {}
    for name, text in case["make"].items():
        code = compile(text, "<" + name + ">", "eval")
        scope[name] = eval(code, {**scope, **inputs, **framework.names_for(code)})
    code = compile(case["run"], "<run>", "eval")
    scope.update(framework.names_for(code))
    targets = [compile(text, "<gradient>", "eval") for text in case["gradient"]]
    function = framework.function({**case, "code": code, "targets": targets}, inputs, scope)
    return function, state.hexdigest()


def observed(framework: Any, case: Json, runs: int, seconds: float) -> Json:
    """Runs a case again and again, the generators reset before each run, and says how the results differ."""
    call, inputs = prepared(framework, case)
    end = time.monotonic() + seconds
    numbers: list[int] = []
    seen: dict[str, int] = {}
    kept: list[list[Output]] = []
    for number in range(runs):
        framework.reset(SEED)
        result = call()
        mark = digest(result)
        if mark not in seen:
            seen[mark] = len(seen)
            if len(kept) <= COMPARED:
                kept.append(result)
        numbers.append(seen[mark])
        if number + 1 >= FEWEST and time.monotonic() > end:
            break
    free = {digest(call()) for _ in range(FEWEST)} if len(seen) == 1 else set()
    return {
        "results": numbers, "digests": list(seen), "unseeded": len(free), "inputs": inputs,
        "elements": sum(size(one) for one in kept[0]), **oddities(kept[0]), **distance(kept),
    }  # fmt: skip


def digest(outputs: list[Output]) -> str:
    """A hash of the bytes: values would hide -0.0 and trip over NaN."""
    state = hashlib.blake2b(digest_size=12)
    for dtype, data in outputs:
        state.update((dtype + str(len(data))).encode())
        state.update(data)
    return state.hexdigest()


def numbers_of(output: Output) -> tuple[list[float], list[int]]:
    """The values of a floating-point tensor, and their bits as integers that count in ULPs."""
    dtype, data = output
    if dtype not in _FORMATS:
        return [], []
    real, whole = _FORMATS[dtype]
    bits = list(struct.unpack("=%d%s" % (len(data) // struct.calcsize("=" + whole), whole), data))  # noqa: UP031
    if dtype == "bfloat16":
        values = struct.unpack("=%df" % len(bits), b"".join(struct.pack("<hh", 0, one) for one in bits))  # noqa: UP031
    else:
        values = struct.unpack("=%d%s" % (len(bits), real), data)  # noqa: UP031
    lowest = -(1 << (8 * struct.calcsize("=" + whole) - 1))
    return list(values), [one if one >= 0 else lowest - one for one in bits]


def size(output: Output) -> int:
    """The number of elements of a tensor."""
    widths = {"float16": 2, "bfloat16": 2, "float64": 8, "int64": 8, "complex64": 8, "bool": 1, "uint8": 1, "int8": 1}
    return len(output[1]) // widths.get(output[0], 4)


def oddities(outputs: list[Output]) -> Json:
    """How many NaN and infinite elements there are."""
    values = [value for one in outputs for value in numbers_of(one)[0]]
    return {"nan": sum(value != value for value in values), "inf": sum(math.isinf(value) for value in values)}


def distance(kept: list[list[Output]]) -> Json:
    """The farthest that another result lies from the first: in ULPs, and relative to the tensor's largest element."""
    if len(kept) < 2:
        return {"max_ulp": None, "max_relative": None}
    ulps, farthest = 0, 0.0
    for number, first in enumerate(kept[0]):
        values, bits = numbers_of(first)
        largest, most = max((abs(value) for value in values if math.isfinite(value)), default=0.0), 0.0
        for other in kept[1:]:
            if number >= len(other) or other[number] == first:
                continue
            values2, bits2 = numbers_of(other[number])
            differing = (n for n in range(min(len(bits), len(bits2))) if bits[n] != bits2[n])
            for n in (n for n in differing if math.isfinite(values[n]) and math.isfinite(values2[n])):
                ulps, most = max(ulps, abs(bits[n] - bits2[n])), max(most, abs(values[n] - values2[n]))
        farthest = max(farthest, most / largest if largest else 0.0)
    return {"max_ulp": ulps, "max_relative": farthest}


def timed(framework: Any, case: Json, blocks: int, seconds: float) -> Json:
    """The time of a run in each of several blocks; a block is as many runs as fit into ``seconds``."""
    call, _ = prepared(framework, case)
    start = time.perf_counter()
    call()
    count = max(1, min(200, int(seconds / max(time.perf_counter() - start, 1e-6))))
    found = []
    for _ in range(blocks):
        start = time.perf_counter()
        for _ in range(count):
            call()
        found.append((time.perf_counter() - start) / count)
    return {"seconds": found}


def started(start: Json) -> tuple[Any, Json]:
    """The framework, set up, and what the machine and the environment are."""
    framework = FRAMEWORKS[start["framework"]](start)
    if start["device"] == "gpu" and not framework.names:
        raise NoDevice("the framework sees no GPU")
    facts = {"versions": framework.versions(), "python": platform.python_version(), "gpus": framework.names}
    return framework, facts


def bound_to_parent() -> None:
    """On Linux: die with the parent, and be the first to go where memory runs out."""
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG, linux/prctl.h
    try:
        with open("/proc/self/oom_score_adj", "w") as stream:  # noqa: PTH123
            stream.write("1000")
    except OSError:
        pass  # not allowed here: the limit that the parent keeps still holds


def main(requests: int, replies: int) -> None:
    """Answers requests until the pipe is closed."""
    bound_to_parent()
    framework: Any = None
    with os.fdopen(requests, encoding="utf-8") as source, os.fdopen(replies, "w", encoding="utf-8") as sink:
        for line in source:
            request = json.loads(line)
            try:
                if request["do"] == "start":
                    framework, answer = started(request)
                elif request["do"] == "observe":
                    answer = observed(framework, request["case"], request["runs"], request["seconds"])
                else:
                    answer = timed(framework, request["case"], request["blocks"], request["seconds"])
            except Exception as error:  # noqa: BLE001 (whatever an op raises is what is to be reported)
                text = " ".join(str(error).split())[:400]
                answer = {"raised": type(error).__name__ + (": " + text if text else "")}
            sink.write(json.dumps(answer) + "\n")
            sink.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
