"""TensorFlow (2.x): eager, as ``tf.function``, or compiled by XLA."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from .base import SEED, Framework, drawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from .base import Json, Output


class Tensorflow(Framework):
    """Deterministic mode is ``enable_op_determinism``, which XLA heeds, too."""

    def __init__(self, start: Json) -> None:
        super().__init__(start)
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
        if start.get("variant"):
            tf.config.experimental.enable_tensor_float_32_execution(start["variant"] == "tf32")
        self.names = [str(tf.config.experimental.get_device_details(gpu).get("device_name", "GPU")) for gpu in gpus]
        self.device = "/GPU:0" if self.gpu else "/CPU:0"
        self._policy = "float32"
        """Keras computes in it, until a case asks for another one."""

    def versions(self) -> Json:
        """What the results depend on."""
        build = self.tf.sysconfig.get_build_info()
        known = {"tensorflow": self.tf.__version__, "keras": self.tf.keras.__version__, "numpy": self.np.__version__}
        return {**known, **{key: str(build[key]) for key in ("cuda_version", "cudnn_version") if key in build}}

    def for_gpus(self) -> bool:
        """Whether it was built with CUDA or ROCm."""
        return bool(self.tf.test.is_built_with_gpu_support())

    def settings(self) -> Json:
        """As they are in this process."""
        return {"tf32": bool(self.tf.config.experimental.tensor_float_32_execution_enabled())}

    def begin(self, case: Json) -> None:
        """Layers are made under the policy of Keras that the case asks for."""
        policy = "mixed_" + case["autocast"] if case.get("autocast") else "float32"
        if policy != self._policy:
            importlib.import_module("keras").mixed_precision.set_global_policy(policy)
            self._policy = policy

    def reset(self, seed: int) -> None:
        """Every generator that an op may draw from starts anew."""
        super().reset(seed)
        self.np.random.seed(seed)
        self.tf.random.set_seed(seed)

    def tensor(self, spec: Json, seed: int) -> Any:
        """An input."""
        with self.tf.device(self.device):
            return self.tf.identity(self.tf.cast(self.tf.constant(drawn(self.np, spec, seed)), spec["dtype"]))

    def placed(self, value: Any) -> Any:
        """A tensor or an array of NumPy's on the device."""
        if not (self.tf.is_tensor(value) or isinstance(value, self.np.ndarray)):
            return None
        with self.tf.device(self.device):
            return self.tf.identity(value)

    def names_for(self, code: Any) -> Json:
        """The modules that an expression may name."""
        keras = {"keras": importlib.import_module("keras")} if "keras" in code.co_names else {}
        return {"tf": self.tf, "np": self.np, **keras}

    def function(self, case: Json, inputs: Json, scope: Json) -> Callable[[], list[Any]]:
        """The case as a call without arguments; the inputs are arguments of the graph, so nothing is folded."""
        tf, body = self.tf, self._body(case, list(inputs), scope)
        upstream: list[Any] = []
        if case["execution"] != "eager" or case["targets"]:
            with tf.device(self.device):
                _, (results, _) = self._forward(case, inputs, scope)  # layers make their variables outside of any graph
            real = [one for one in results if self._is_real(one)] if case["targets"] else []
            for number, one in enumerate(real):
                spec = {"shape": one.shape.as_list(), "values": "normal", "dtype": one.dtype.name}
                upstream.append(self.tensor(spec, SEED + 1 + number))
        graph: Any = body
        if case["execution"] != "eager":
            graph = tf.function(body, jit_compile=case["execution"] == "xla" or None, autograph=False)

        def call() -> list[Any]:
            with tf.device(self.device):
                return list(graph(inputs, upstream))

        return call

    def _forward(self, case: Json, values: Json, scope: Json) -> tuple[Any, Any]:
        names = {**scope, **values}
        with self.tf.GradientTape() as tape:
            for value in values.values():
                if self._is_real(value):
                    tape.watch(value)
            results = self._flat(eval(case["code"], names))
        return tape, (results, [self._flat(eval(target, names)) for target in case["targets"]])

    def _body(self, case: Json, given: list[str], scope: Json) -> Callable[[Json, Any], Any]:
        def body(values: Json, upstream: Any) -> Any:
            tape, (results, wanted) = self._forward(case, {name: values[name] for name in given}, scope)
            if not case["targets"]:
                return results
            flat = [one for several in wanted for one in several]
            found = tape.gradient([one for one in results if self._is_real(one)], flat, output_gradients=upstream)
            if any(one is None for one in found):
                raise ValueError("no gradient reaches what the case differentiates by")
            gradients = self._flat(found)
            return results + gradients if case["direction"] == "both" else gradients

        return body

    @staticmethod
    def _is_real(tensor: Any) -> bool:
        return bool(tensor.dtype.is_floating or tensor.dtype.is_complex)

    def _flat(self, value: Any) -> Any:
        """Tensors alone: the sum of an ``IndexedSlices`` is what an optimizer would make of it."""
        tf = self.tf
        whole = [
            tf.convert_to_tensor(one) if isinstance(one, tf.IndexedSlices) else one
            for one in (value if isinstance(value, (list, tuple)) else [value])
        ]
        flat = [one for one in tf.nest.flatten(whole, expand_composites=True) if one is not None]
        return [one if tf.is_tensor(one) or isinstance(one, tf.Variable) else tf.convert_to_tensor(one) for one in flat]

    def output(self, tensor: Any) -> Output:
        """The dtype of a tensor and its bytes; strings are objects, whose own bytes would be addresses."""
        value = tensor.numpy()
        if tensor.dtype == self.tf.string:
            return "string", repr(value.tolist() if hasattr(value, "tolist") else value).encode()
        return tensor.dtype.name, value.tobytes()

    def dtype_of(self, tensor: Any) -> str:
        """The name of its dtype."""
        return str(tensor.dtype.name)

    def words(self, tensor: Any) -> Any:
        """The bits as int64 words; None for strings and handles, which have none."""
        tf, dtype = self.tf, tensor.dtype
        if dtype == tf.bool:
            bits = tensor
        elif self._is_real(tensor) or dtype.is_integer:
            narrow = {1: tf.uint8, 2: tf.int16}.get(dtype.size, tf.int32)
            bits = tf.bitcast(tensor, narrow)
        else:
            return None
        return tf.reshape(tf.cast(bits, tf.int64), [-1])

    def int64(self, data: bytes) -> Any:
        """An int64 array on the device."""
        with self.tf.device(self.device):
            return self.tf.identity(self.tf.constant(self.np.frombuffer(data, self.np.int64)))

    def rows(self, words: Any, width: int) -> Any:
        """A flat tensor in rows of that width."""
        return self.tf.reshape(words, [-1, width])

    def weighted(self, words: Any, weights: Any) -> list[int]:
        """The sums of the rows times ``weights``."""
        return [int(one) for one in self.tf.reduce_sum(words * weights, axis=1).numpy().tolist()]

    def sums(self, tensor: Any) -> list[int] | None:
        """On the device, where eager ops would else go to the one that holds their inputs."""
        with self.tf.device(self.device):
            return super().sums(tensor)

    def finish(self, results: list[Any]) -> None:
        """Waits for the device: ops on a GPU return before they are done."""
        if self.gpu:
            for one in results:
                self.tf.reshape(one, [-1])[:1].numpy()
