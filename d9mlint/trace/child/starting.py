"""Begins the recording in the process that runs the program, and in its workers."""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
from typing import Any

from . import files, switches
from .importing import Importing
from .places import Places
from .recorder import Recorder

_PR_SET_PDEATHSIG = 1


def start(path: str) -> None:
    """``path``: the settings that the parent wrote."""
    try:
        with open(path, encoding="utf-8") as stream:  # noqa: PTH123
            settings = json.load(stream)
    except (OSError, ValueError):
        return  # the run is over: a process that has outlived it
    worker = not _claimed(settings["folder"])
    recorder = Recorder(settings["folder"], Places(settings["roots"]), worker)
    importing = Importing(recorder.note)
    switches.install(importing, settings["switches"], recorder, int(settings.get("shift", 0)))
    if not worker:
        _bound_to_parent()
        recorder.event("start", sys.version.split()[0], os.getpid())
        files.install(recorder)
        atexit.register(recorder.ended)
    _recording(importing, recorder, settings)


def _recording(importing: Importing, recorder: Recorder, settings: Any) -> None:
    """What is recorded in this stage; a stage imports no more than it needs."""
    if not recorder.worker:
        from . import jax, light, stepping
        from .tensorflow import light as tensorflow_light

        steps = stepping.Steps(recorder, settings["steps"], settings["stage"] == "study")
        importing.after("torch", lambda torch: light.install(torch, recorder, steps, settings))
        tensorflow_light.install(importing, recorder, steps)
        jax.install_light(importing, recorder, steps)
        importing.after("torch._inductor.compile_fx", lambda _: recorder.note_use("compile"))
    if settings["stage"] == "shadow" and not recorder.worker:
        from . import ops

        ops.install(importing, recorder, settings)
    if settings["stage"] == "values":
        from . import sources, values

        sources.install(importing, recorder)
        values.install(recorder)
    if settings["stage"] == "ops":
        from . import draws, sources

        draws.install(importing, recorder)
        sources.install(importing, recorder)
        if not recorder.worker:
            from . import jax, ops
            from .tensorflow import ops as tensorflow_ops

            ops.install(importing, recorder, settings)
            tensorflow_ops.install(importing, recorder)
            jax.install_ops(importing, recorder)


def _claimed(folder: str) -> bool:
    """Whether this is the first process of the program: it records, others are its workers."""
    try:
        os.close(os.open(os.path.join(folder, "claimed"), os.O_CREAT | os.O_EXCL | os.O_WRONLY))  # noqa: PTH118
    except OSError:
        return False
    return True


def _bound_to_parent() -> None:
    """On Linux: die with d9mlint, however it ends."""
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
