"""The switches that are thrown inside the process: seeds, deterministic ops, threads, workers, compilation, GPUs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import seeding

if TYPE_CHECKING:
    from .importing import Importing
    from .recorder import Recorder


def install(importing: Importing, names: list[str], recorder: Recorder, shift: int) -> None:
    """Throws the named switches when the module that they belong to has been imported.

    ``shift`` is added to each seed.
    """
    if "seeds" in names and not recorder.worker:
        seeding.start(importing, shift)
    if "given seeds" in names or "absent seeds" in names or shift:
        seeding.install(importing, recorder, "given seeds" in names, "absent seeds" in names, shift)
    if "deterministic" in names:
        importing.after("torch", _deterministic)
        importing.after("tensorflow", lambda tensorflow: tensorflow.config.experimental.enable_op_determinism())
    if "threads" in names:
        importing.after("torch", _one_thread)
        importing.after("tensorflow", _one_thread_of_tensorflow)
    if "gpu" in names:  # before any framework asks
        os.environ["CUDA_VISIBLE_DEVICES"] = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip() or "0"
    if "compile" in names:
        os.environ["TORCH_COMPILE_DISABLE"] = "1"  # read when Dynamo is imported
        importing.after("torch._dynamo.config", _eager)
    importing.after("torch.utils.data.dataloader", lambda module: _workers(module, recorder, "workers" in names))


def _deterministic(torch: Any) -> None:
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms = lambda mode, **kwargs: None  # the program does not take it back


def _one_thread(torch: Any) -> None:
    """Also where the program asks for more."""
    torch.set_num_threads(1)
    torch.set_num_threads = lambda number: None


def _one_thread_of_tensorflow(tensorflow: Any) -> None:
    """Also where the program asks for more."""
    threading = tensorflow.config.threading
    for name in ("set_intra_op_parallelism_threads", "set_inter_op_parallelism_threads"):
        getattr(threading, name)(1)
        setattr(threading, name, lambda number: None)


def _eager(config: Any) -> None:
    config.disable = True


def _workers(module: Any, recorder: Recorder, none: bool) -> None:
    """Tells that a loader has workers, or takes them away."""
    kind = module.DataLoader
    real = kind.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if none:
            args = (*args[:5], 0, *args[6:]) if len(args) > 5 else args  # dataset, batch_size, ..., num_workers
            for name, value in (("num_workers", 0), ("prefetch_factor", None), ("persistent_workers", False)):
                if name in kwargs:
                    kwargs[name] = value
        real(self, *args, **kwargs)
        if self.num_workers > 0:
            recorder.event("uses", "workers")

    __init__.__doc__, __init__.__wrapped__ = real.__doc__, real  # type: ignore[attr-defined]
    kind.__init__ = __init__
