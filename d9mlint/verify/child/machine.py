"""The machine's NVIDIA GPUs and their driver, as its management library (NVML) tells: it asks no framework.

NVML's C interface: https://docs.nvidia.com/deploy/nvml-api/group__nvmlSystemQueries.html
"""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .frameworks.base import Json

_LONGEST = 96


class NoDevice(Exception):
    """The device that was asked for is not there."""


_EXCLUSIVE = (1, 3)
"""Compute modes in which one process (or, long ago, thread) at a time has the card: nvmlComputeMode_t."""


@contextmanager
def _nvml() -> Iterator[tuple[Any, str]]:
    """The library, set up, and an empty text; else None and why there is none."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        yield None, "there is no NVIDIA driver"
        return
    failed = library.nvmlInit_v2()
    if failed != 0:
        yield None, "the NVIDIA driver does not answer: " + _said(library, failed)
        return
    try:
        yield library, ""
    finally:
        library.nvmlShutdown()


def _said(library: Any, code: int) -> str:
    """What the library calls an error."""
    try:
        library.nvmlErrorString.restype = ctypes.c_char_p
        return str(library.nvmlErrorString(code).decode("utf-8", "replace"))
    except AttributeError:
        return "NVML error " + str(code)


def trouble() -> str:
    """Why the driver shows no GPU; empty where it does."""
    with _nvml() as (library, why):
        return why or ("" if _count(library) else "the machine has no NVIDIA GPU")


def driver() -> str:
    """The version of the GPU driver; empty where it cannot be told."""
    with _nvml() as (library, _):
        text = ctypes.create_string_buffer(_LONGEST)
        found = library is not None and library.nvmlSystemGetDriverVersion(text, _LONGEST) == 0
        return text.value.decode("utf-8", "replace") if found else ""


def gpus() -> int:
    """How many GPUs the driver knows."""
    with _nvml() as (library, _):
        return _count(library) if library is not None else 0


def cards() -> list[Json]:
    """The GPUs that the driver knows: their names, whether one process at a time has them, whether they are divided."""
    found = []
    with _nvml() as (library, _):
        for number in range(_count(library) if library is not None else 0):
            handle, name = ctypes.c_void_p(), ctypes.create_string_buffer(_LONGEST)
            if library.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(handle)) != 0:
                continue
            library.nvmlDeviceGetName(handle, name, _LONGEST)
            mode, current, pending = ctypes.c_uint(0), ctypes.c_uint(0), ctypes.c_uint(0)
            library.nvmlDeviceGetComputeMode(handle, ctypes.byref(mode))
            divided = library.nvmlDeviceGetMigMode(handle, ctypes.byref(current), ctypes.byref(pending)) == 0
            card = {"number": number, "name": name.value.decode("utf-8", "replace")}
            card.update(exclusive=mode.value in _EXCLUSIVE, mig=divided and current.value == 1)
            found.append(card)
    return found


def exclusive() -> bool:
    """Whether a GPU serves one process at a time."""
    return any(card["exclusive"] for card in cards())


def _count(library: Any) -> int:
    count = ctypes.c_uint(0)
    return count.value if library.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0 else 0
