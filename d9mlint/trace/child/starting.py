"""Begins the recording in the processes of the program, and in those that help them."""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
from typing import Any

from . import files, parts, switches
from .importing import Importing
from .places import Places
from .recorder import MAIN, Recorder

_PR_SET_PDEATHSIG = 1


def start(path: str) -> None:
    """``path``: the settings that the parent wrote."""
    try:
        with open(path, encoding="utf-8") as stream:  # noqa: PTH123
            settings = json.load(stream)
    except (OSError, ValueError):
        return  # the run is over: a process that has outlived it
    program, worker = parts.part(settings["folder"], settings["outer"])
    recorder = Recorder(settings["folder"], Places(settings["roots"]), program, worker)
    importing = Importing(recorder.note)
    switches.install(importing, settings["switches"], recorder, int(settings.get("shift", 0)))
    if program == MAIN and not worker:
        _bound_to_parent()
    if settings["stage"] in ("values", "ops"):
        from . import sources

        sources.install(importing, recorder)
    if settings["stage"] == "ops":
        from . import draws

        draws.install(importing, recorder)
    of_part = _Part(importing, recorder, settings)
    if not worker:
        atexit.register(recorder.ended)
        of_part()
    parts.install(importing, recorder, of_part)


class _Part:
    """What is recorded in a part of the program, and not in what helps it; a stage imports no more than it needs."""

    def __init__(self, importing: Importing, recorder: Recorder, settings: Any) -> None:
        self._importing, self._recorder, self._settings = importing, recorder, settings
        self._installed = False

    def __call__(self) -> None:
        """Begins; a forked process has the hooks already."""
        self._recorder.event("start", sys.version.split()[0], os.getpid())
        self._recorder.flush()  # it is known to have begun, whatever happens now
        if not self._installed:
            self._installed = True
            self._install(self._importing, self._recorder, self._settings)

    @staticmethod
    def _install(importing: Importing, recorder: Recorder, settings: Any) -> None:
        from . import jax, ledger, stepping
        from .tensorflow import light as tensorflow_light
        from .torch import light

        files.install(recorder)
        if settings["stage"] == "light":
            ledger.install(importing, recorder)
        steps = stepping.Steps(
            recorder, settings["steps"], settings["stage"] == "study", int(settings.get("perturb", 0))
        )
        importing.after("torch", lambda torch: light.install(torch, recorder, steps, settings))
        tensorflow_light.install(importing, recorder, steps)
        jax.install_light(importing, recorder, steps)
        importing.after("torch._inductor.compile_fx", lambda _: recorder.note_use("compile"))
        if settings["stage"] == "shadow":
            from .torch import ops

            ops.install(importing, recorder, settings)
        if settings["stage"] == "values":
            from . import values

            values.install(recorder)
        if settings["stage"] == "ops":
            from .tensorflow import ops as tensorflow_ops
            from .torch import ops

            ops.install(importing, recorder, settings)
            tensorflow_ops.install(importing, recorder)
            jax.install_ops(importing, recorder)


def _bound_to_parent() -> None:
    """On Linux: die with d9mlint, however it ends."""
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
