"""The ledger of what decides how frameworks compute: variables, who set or read a switch, settings at the end."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from .parts import GPUS, is_rank
from .wrapping import Wrapping

if TYPE_CHECKING:
    from .importing import Importing
    from .recorder import Recorder

_PREFIXES = (
    "CUBLAS_", "CUDA_", "CUDNN_", "GOTO_", "HOROVOD_", "JAX_", "KERAS_", "KMP_", "MKL_", "NCCL_", "NUMEXPR_", "NVIDIA_",
    "OMP_", "OPENBLAS_", "PYTORCH_", "TF_", "TORCH", "XLA_",
)  # fmt: skip
_OTHERS = ("TF_CLI_", "TF_VAR_", "TORCHELASTIC_")
"""What Terraform sets, and what a launcher tells its ranks, paths with names that are made up anew among it."""
_TORCH = (
    "use_deterministic_algorithms", "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_num_threads",
    "set_num_interop_threads",
)  # fmt: skip
_TENSORFLOW = (
    "config.experimental.enable_op_determinism", "config.experimental.enable_tensor_float_32_execution",
    "config.optimizer.set_jit", "config.threading.set_intra_op_parallelism_threads",
    "config.threading.set_inter_op_parallelism_threads",
)  # fmt: skip
SET, READ, CALLED = "set", "read", "called"
_MAPPINGS = ("collections.abc", "os")


def _decides(name: str) -> bool:
    return name.startswith(_PREFIXES) and not name.startswith(_OTHERS)


def install(importing: Importing, recorder: Recorder) -> None:
    """Writes down the variables now, who changes a switch, and the frameworks' settings when the program ends."""
    found = {name: os.environ[name] for name in sorted(os.environ) if _decides(name)}
    recorder.event("variables", found)
    _Variables(recorder)
    wrapping = Wrapping(recorder)
    importing.after("torch", partial(_calls, wrapping, "torch.", _TORCH))
    importing.after("tensorflow", partial(_calls, wrapping, "tf.", _TENSORFLOW))
    importing.after("torch.backends", partial(_backends, wrapping))
    importing.after("jax", partial(_of_jax, wrapping))
    recorder.at_end.append(partial(_ended, recorder))


class _Variables:
    """Follows `os.environ`; what C++ code reads of the environment is not seen."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._known: set[str] = set()
        kind = type(os.environ)
        real_set, real_get = kind.__setitem__, kind.__getitem__

        def __setitem__(environ: Any, key: Any, value: Any) -> None:
            real_set(environ, key, value)
            self._told(SET, environ, key, value)

        def __getitem__(environ: Any, key: Any) -> Any:
            if key not in self._known:
                self._told(READ, environ, key, "")
            return real_get(environ, key)

        kind.__setitem__, kind.__getitem__ = __setitem__, __getitem__  # type: ignore[method-assign]
        self._real_get = real_get

    def _told(self, how: str, environ: Any, key: Any, value: Any) -> None:
        recorder = self._recorder
        if environ is not os.environ or not isinstance(key, str) or not _decides(key):
            return
        if recorder.worker or recorder.busy or recorder.closed:
            return
        if how == READ:
            self._known.add(key)
            try:
                value = self._real_get(environ, key)
            except KeyError:
                value = None
        recorder.event("setting", recorder.place(3) if how == READ else _direct(recorder), how, key, value)


def _direct(recorder: Recorder) -> int:
    """The user's line that sets a variable; 0 where a library does."""
    frame: Any = sys._getframe(3)
    while frame is not None and frame.f_globals.get("__name__") in _MAPPINGS:  # `setdefault`, `update`
        frame = frame.f_back
    path = recorder.places.file(frame.f_code) if frame is not None else ""
    return recorder.number_of((path, frame.f_lineno, frame.f_code.co_name)) if path else 0


def _calls(wrapping: Wrapping, prefix: str, names: tuple[str, ...], module: Any) -> None:
    """Functions that are switches."""
    for name in names:
        owner, (*path, last) = module, name.split(".")
        for one in path:
            owner = getattr(owner, one, None)
        wrapping.replace(owner, last, partial(_called, wrapping, prefix + name))


def _called(wrapping: Wrapping, name: str, real: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        result = real(*args, **kwargs)
        if not wrapping.recorder.worker and wrapping.told("setting"):
            given = ", ".join([*map(repr, args), *("%s=%r" % pair for pair in kwargs.items())])  # noqa: UP031
            wrapping.recorder.event("setting", wrapping.recorder.place(), CALLED, name, given[:80])
        return result

    return call


def _backends(wrapping: Wrapping, module: Any) -> None:
    """Attributes of `torch.backends.cudnn` and its like."""
    kind = getattr(module, "ContextProp", None)
    if kind is None:
        return

    def setting(real: Any) -> Any:
        def __set__(self: Any, owner: Any, value: Any) -> None:
            real(self, owner, value)
            name = next((name for name, one in vars(type(owner)).items() if one is self), "")
            place = wrapping.direct()
            if place is not None and wrapping.told("setting"):
                recorder, title = wrapping.recorder, "%s.%s" % (getattr(owner, "__name__", ""), name)  # noqa: UP031
                recorder.event("setting", recorder.number_of(place), SET, title, repr(value)[:80])

        return __set__

    wrapping.replace(kind, "__set__", setting)


def _of_jax(wrapping: Wrapping, module: Any) -> None:
    wrapping.replace(type(module.config), "update", partial(_called_of_jax, wrapping))


def _called_of_jax(wrapping: Wrapping, real: Any) -> Any:
    def update(self: Any, name: Any, value: Any) -> Any:
        result = real(self, name, value)
        place = wrapping.direct()
        if place is not None and wrapping.told("setting"):
            recorder = wrapping.recorder
            recorder.event("setting", recorder.number_of(place), SET, str(name), repr(value)[:80])
        return result

    return update


def _ended(recorder: Recorder) -> None:
    for name, made in (("torch", of_torch), ("tensorflow", of_tensorflow), ("jax", of_jax)):
        module = sys.modules.get(name)
        if module is not None:
            with recorder.apart(), suppress(Exception):  # a program may have ended in the midst of its import
                recorder.event("settings", name, made(module))
            with recorder.apart(), suppress(Exception):
                if _GPUS[name](module) > 1 and not is_rank():
                    recorder.note_use(GPUS)


def _gpus_of_tensorflow(tensorflow: Any) -> int:
    return len(tensorflow.config.get_visible_devices("GPU"))


def _gpus_of_jax(jax: Any) -> int:
    return sum(one.platform in ("gpu", "cuda", "rocm") for one in jax.devices()) if _begun() else 0


def _begun() -> bool:
    """Whether JAX has looked for devices; nothing is initialised for the ledger."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    return bool(bridge is not None and bridge.backends_are_initialized())


_GPUS: dict[str, Any] = {
    "torch": lambda torch: torch.cuda.device_count() if torch.cuda.is_initialized() else 0,
    "tensorflow": _gpus_of_tensorflow, "jax": _gpus_of_jax,
}  # fmt: skip
"""How many GPUs a framework computes on."""


def _known(several: dict[str, Any]) -> dict[str, Any]:
    """What each of these gives; an old version may lack some."""
    found = {}
    for name, asked in several.items():
        try:
            value = asked()
        except Exception:  # noqa: BLE001 (whatever a framework raises, it is not known then)
            continue
        found[name] = value if isinstance(value, (bool, int, str, type(None))) else str(value)
    return found


def of_torch(torch: Any) -> dict[str, Any]:
    """How PyTorch computes."""
    cuda, backends = torch.cuda, torch.backends
    on_gpu = bool(cuda.is_initialized())
    return _known({
        "device": lambda: ", ".join(map(cuda.get_device_name, range(cuda.device_count()))) if on_gpu else "cpu",
        "threads": torch.get_num_threads, "interop_threads": torch.get_num_interop_threads,
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled,
        "deterministic_warn_only": torch.is_deterministic_algorithms_warn_only_enabled,
        "float32_matmul_precision": torch.get_float32_matmul_precision,
        "cuda": lambda: torch.version.cuda, "cudnn": backends.cudnn.version,
        "cudnn.benchmark": lambda: bool(backends.cudnn.benchmark),
        "cudnn.deterministic": lambda: bool(backends.cudnn.deterministic),
    })  # fmt: skip


def of_tensorflow(tensorflow: Any) -> dict[str, Any]:
    """How TensorFlow computes."""
    config = tensorflow.config
    inner = sys.modules.get("tensorflow.python.framework.config")
    built: Any = getattr(tensorflow.sysconfig, "get_build_info", dict)()
    return _known({
        "device": lambda: ", ".join(one.device_type for one in config.get_visible_devices()).lower(),
        "intra_op_threads": config.threading.get_intra_op_parallelism_threads,
        "inter_op_threads": config.threading.get_inter_op_parallelism_threads,
        "op_determinism": lambda: inner.is_op_determinism_enabled() if inner else None,
        "jit": config.optimizer.get_jit,
        "cuda": lambda: built.get("cuda_version"), "cudnn": lambda: built.get("cudnn_version"),
    })  # fmt: skip


def of_jax(jax: Any) -> dict[str, Any]:
    """How JAX computes."""
    config = jax.config
    return _known({
        "device": lambda: ", ".join(sorted({one.device_kind for one in jax.devices()})) if _begun() else None,
        "enable_x64": lambda: config.jax_enable_x64,
        "default_matmul_precision": lambda: config.jax_default_matmul_precision,
        "default_prng_impl": lambda: config.jax_default_prng_impl, "disable_jit": lambda: config.jax_disable_jit,
    })  # fmt: skip
