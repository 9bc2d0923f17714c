"""JAX, op by op or as ``jax.jit``."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from .base import SEED, Framework, drawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from .base import Json, Output

_WIDE = ("float64", "complex128")


class Jax(Framework):
    """Deterministic mode is XLA's flag, which is about GPUs alone and is read when the backend starts.

    The flag: jaxlib's own help for ``xla_gpu_deterministic_ops``, openxla/xla#12520. ``NPROC`` is what XLA's CPU client
    asks for the size of its thread pool (openxla/xla: xla/pjrt/utils.cc, ``DefaultThreadPoolSize``).
    """

    def __init__(self, start: Json) -> None:
        super().__init__(start)
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # other processes share the GPU
        if start["threads"]:
            os.environ["NPROC"] = str(start["threads"])
        if start["mode"] == "deterministic":
            os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "") + " --xla_gpu_deterministic_ops=true").strip()
        self.jax = jax = importlib.import_module("jax")
        self.np = importlib.import_module("numpy")
        gpus = [one for one in jax.devices() if one.platform in ("gpu", "cuda", "rocm")]
        self.names = [str(one.device_kind) for one in gpus]
        self.device = gpus[0] if self.gpu and gpus else jax.devices("cpu")[0]
        jax.config.update("jax_default_device", self.device)
        self._wide = False

    def versions(self) -> Json:
        """What the results depend on."""
        known = {"jax": self.jax.__version__, "jaxlib": importlib.import_module("jaxlib").__version__}
        known["numpy"] = self.np.__version__
        told = " ".join(str(self.device.client.platform_version).split())
        return {**known, "platform": told} if self.gpu else known

    def begin(self, case: Json) -> None:
        """Double precision only where a case is about it: it would change the types of all else."""
        self._wide = case["dtype"] in _WIDE

    def reset(self, seed: int) -> None:
        """Generators that are no argument; JAX's own are."""
        super().reset(seed)
        self.np.random.seed(seed)

    def _precision(self, wide: bool) -> Any:
        """Whether 64-bit numbers may be used; the experimental name is that of releases before 0.8."""
        switch = getattr(self.jax, "enable_x64", None)
        if switch is None:
            switch = importlib.import_module("jax.experimental").enable_x64
        return switch(wide)

    def tensor(self, spec: Json, seed: int) -> Any:
        """An input; indices have 32 bits unless 64 are enabled, as in a program."""
        with self._precision(self._wide):
            dtype = self.np.dtype("int32" if spec["dtype"] == "int64" and not self._wide else spec["dtype"])
            return self.jax.device_put(drawn(self.np, spec, seed).astype(dtype), self.device)

    def placed(self, value: Any) -> Any:
        """An array on the device."""
        known = isinstance(value, (self.jax.Array, self.np.ndarray))
        return self.jax.device_put(value, self.device) if known else None

    def names_for(self, code: Any) -> Json:
        """The modules that an expression may name."""
        return {"jax": self.jax, "jnp": importlib.import_module("jax.numpy"), "np": self.np}

    def function(self, case: Json, inputs: Json, scope: Json) -> Callable[[], list[Any]]:
        """The case as a call without arguments; inputs and upstream gradients are arguments of what is compiled."""
        jax, targets = self.jax, case["gradient"]
        forward = eval("lambda " + ", ".join(inputs) + ": (" + case["run"] + ")", scope)

        def real(values: Json) -> list[Any]:
            found = jax.tree_util.tree_leaves(forward(**values))
            return [one for one in found if not targets or jax.numpy.issubdtype(one.dtype, jax.numpy.inexact)]

        def body(values: Json, upstream: list[Any]) -> list[Any]:
            if not targets:
                return real(values)
            rest = {name: value for name, value in values.items() if name not in targets}

            def wanted(*chosen: Any) -> list[Any]:
                return real({**rest, **dict(zip(targets, chosen))})  # noqa: B905 (Python 3.10)

            results, pull = jax.vjp(wanted, *(values[name] for name in targets))
            gradients = list(pull(upstream))
            return results + gradients if case["direction"] == "both" else gradients

        with self._precision(self._wide):
            shapes = jax.eval_shape(real, inputs) if targets else []
            compiled = jax.jit(body) if case["execution"] == "jit" else body
        upstream = []
        for number, one in enumerate(shapes):
            spec = {"shape": list(one.shape), "values": "normal", "dtype": str(one.dtype)}
            upstream.append(self.tensor(spec, SEED + 1 + number))

        def call() -> list[Any]:
            with self._precision(self._wide):
                return list(compiled(inputs, upstream))

        return call

    def output(self, tensor: Any) -> Output:
        """The dtype of an array and its bytes."""
        return str(tensor.dtype), self.np.asarray(tensor).tobytes()

    def words(self, tensor: Any) -> Any:
        """The bits as int64 words; keys of generators have none."""
        jnp, lax = self.jax.numpy, self.jax.lax
        dtype = tensor.dtype
        if jnp.issubdtype(dtype, jnp.complexfloating):
            tensor = jnp.stack([tensor.real, tensor.imag], axis=-1)
            dtype = tensor.dtype
        elif dtype == jnp.bool_:
            return tensor.reshape(-1).astype(jnp.int64)
        elif not (jnp.issubdtype(dtype, jnp.floating) or jnp.issubdtype(dtype, jnp.integer)):
            return None
        narrow = {1: jnp.uint8, 2: jnp.int16}.get(dtype.itemsize, jnp.int32)
        return lax.bitcast_convert_type(tensor, narrow).reshape(-1).astype(jnp.int64)

    def int64(self, data: bytes) -> Any:
        """An int64 array on the device."""
        return self.jax.device_put(self.np.frombuffer(data, self.np.int64), self.device)

    def sums(self, tensor: Any) -> list[int] | None:
        """On the device, with the 64-bit integers that JAX does not have by itself."""
        with self._precision(True):
            return super().sums(tensor)

    def finish(self, results: list[Any]) -> None:
        """Waits: calls return before they are done."""
        self.jax.block_until_ready(results)
