"""What `tf.data` brings in: which functions run in its threads, and what it draws or hands out in any order."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

from ..recorder import digest
from . import kinds

if TYPE_CHECKING:
    from ..importing import Importing
    from ..wrapping import Wrapping

THREAD = "dataset"
BATCH = "a batch of the dataset"


def install(importing: Importing, ops: Any, wrapping: Wrapping) -> None:
    """Functions that a dataset calls are known by where they are traced."""
    importing.after("tensorflow.python.data.ops.structured_function", partial(_functions, ops, wrapping))


def _functions(ops: Any, wrapping: Wrapping, module: Any) -> None:
    def made(real: Any) -> Any:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            before = getattr(ops.local, "dataset", False)
            ops.local.dataset = True
            try:
                real(self, *args, **kwargs)
            finally:
                ops.local.dataset = before

        return __init__

    wrapping.replace(module.StructuredFunctionWrapper, "__init__", made)


def told(ops: Any, place: int, kind: str, inputs: Any, attrs: dict[str, Any]) -> bool:
    """Whether the op is one that describes a dataset; what it draws is written into the ledger.

    What has no seed draws from the system's entropy: its state is another in each run.
    """
    if "Dataset" not in kind:
        return False
    recorder = ops.recorder
    if kind.startswith("Shuffle") and len(inputs) > 3:
        seeds = [int(one.numpy()) for one in inputs[2:4]]
        state = digest(repr(seeds)) if any(seeds) else digest(os.urandom(8))
        recorder.event("draw", place, kinds.GENERATOR, "tf.data shuffle", state)
    order = attrs.get("deterministic")
    if getattr(order, "s", order) in ("false", b"false") or attrs.get("sloppy") is True:
        name = "%s(deterministic=False)" % kind.rstrip("V0123456789")  # noqa: UP031
        recorder.event("source", place, "completion", name, digest(os.urandom(8)), "", "")
    return True
