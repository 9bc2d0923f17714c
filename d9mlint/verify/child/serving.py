"""Requests come, and replies go, as one JSON object a line on two pipes: what a framework prints cannot get in between.

One process is one framework, one number of threads and one mode; every case runs in it, so that the framework is
imported once.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import platform
import signal
import sys
from typing import TYPE_CHECKING, Any

from . import machine, running

if TYPE_CHECKING:
    from .frameworks.base import Json

FRAMEWORKS: dict[str, Any] = {
    "tensorflow": "Tensorflow", "torch": "Torch", "jax": "Jax", "numba": "Numba", "cupy": "Cupy", "triton": "Triton",
}  # fmt: skip
"""The class of each; it stands in the module of the framework's name."""


def started(start: Json) -> tuple[Any, Json]:
    """The framework, set up, and what the machine and the environment are."""
    name = start["framework"]
    kind = FRAMEWORKS[name]
    if isinstance(kind, str):
        kind = getattr(importlib.import_module(".frameworks." + name, __package__), kind)
    try:
        framework = kind(start)
    except ImportError:
        if start["device"] == "gpu" and machine.trouble():
            raise machine.NoDevice(machine.trouble()) from None
        raise
    unseen = "" if framework.names else _unseen(framework)
    if start["device"] == "gpu" and unseen:
        raise machine.NoDevice(unseen)
    versions = framework.versions()
    driver = machine.driver() if framework.names else ""
    if driver:
        versions["driver"] = driver
    answer = {"versions": versions, "python": platform.python_version(), "gpus": framework.names}
    if framework.names:
        answer.update(cards=machine.cards(), settings=framework.settings())
        if framework.gpu:
            answer["used"] = {"name": framework.names[0], "visible": os.environ.get("CUDA_VISIBLE_DEVICES")}
    elif machine.gpus():
        answer["unused"] = unseen  # a GPU that is there and that nobody can use is worth a word
    return framework, answer


def _unseen(framework: Any) -> str:
    """Why the framework sees no GPU."""
    trouble = machine.trouble()
    if not trouble and not framework.for_gpus():
        return "the machine has a GPU, but this build of the framework is for CPUs"
    if not trouble and os.environ.get("CUDA_VISIBLE_DEVICES") is not None:
        return "the framework sees no GPU: CUDA_VISIBLE_DEVICES is " + os.environ["CUDA_VISIBLE_DEVICES"]
    return trouble or "the framework sees no GPU, though the driver shows one"


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
                    answer = running.observed(framework, request["case"], request["runs"], request["seconds"])
                else:
                    answer = running.timed(framework, request["case"], request["seconds"])
            except Exception as error:  # noqa: BLE001 (whatever an op raises is what is to be reported)
                text = " ".join(str(error).split())[:400]
                answer = {"raised": type(error).__name__ + (": " + text if text else "")}
                if framework is not None and not framework.usable():
                    answer["broken"] = True
            sink.write(json.dumps(answer) + "\n")
            sink.flush()
