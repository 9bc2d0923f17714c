"""A kernel of Triton that the program launches is one op: it reads and may write each tensor that it is given."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..recorder import OP

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..importing import Importing
    from ..wrapping import Wrapping

_LAUNCHING = (
    ("triton.runtime.jit", "JITFunction"),
    ("triton.runtime.autotuner", "Autotuner"),  # its trials and its launch are one
    ("triton.runtime.interpreter", "InterpretedFunction"),
)
"""Modules and classes whose ``run`` launches (triton-lang/triton: python/triton/runtime)."""


def install(importing: Importing, ops: Any, wrapping: Wrapping) -> None:
    """Hooks what launches kernels, once it is imported."""
    for module, name in _LAUNCHING:
        importing.after(module, partial(_hooked, ops, wrapping, name))


def _hooked(ops: Any, wrapping: Wrapping, name: str, module: Any) -> None:
    kind = getattr(module, name, None)
    if kind is not None:
        wrapping.replace(kind, "run", partial(_launching, ops))


def _launching(ops: Any, real: Callable[..., Any]) -> Callable[..., Any]:
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        recorder = ops.recorder
        if recorder.busy or recorder.worker or recorder.closed or kwargs.get("warmup"):
            return real(self, *args, **kwargs)
        given = ops._tensors([*args, *kwargs.values()])
        with recorder.apart():
            place, direction = ops._place()
            ins = ops._described([one for one in given if ops.storages.writer(one) >= 0])  # others are yet to be filled
            result = real(self, *args, **kwargs)
            ops.tell(OP, place, "triton " + _name(self), direction, "", ins, ops._results(given, None), [], "", given)
            return result

    return run


def _name(kernel: Any) -> str:
    """Of the function; an autotuner wraps another kernel."""
    while not hasattr(kernel, "__name__") and hasattr(kernel, "fn"):
        kernel = kernel.fn
    return str(getattr(kernel, "__name__", "kernel"))
