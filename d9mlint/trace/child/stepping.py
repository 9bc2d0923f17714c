"""What all light probes do at a step: count, write down, and end the program after enough of them."""

from __future__ import annotations

import os
import threading
import time
from array import array
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recorder import Recorder

ENOUGH = 0
_MOST = 5000
"""Weights of each tensor that are kept at the end."""
_now = time.perf_counter  # as it is before anything is put in its place


class Enough(SystemExit):
    """The steps that were asked for are recorded: the program is ended as by ``sys.exit``."""


class Steps:
    """The steps of a process, of whichever optimizers; ``most``: after which it is ended, 0 for none."""

    def __init__(self, recorder: Recorder, most: int, keeping: bool = False) -> None:
        self._recorder, self._most = recorder, most
        self.done = 0
        self._last: Any = None
        if keeping:
            recorder.at_end.append(self._kept)
        self._keeping = keeping

    def keep(self, numbers: Any) -> None:
        """In a study: what gives the weights after the last step, a list of lists of numbers."""
        if self._keeping:
            self._last = numbers

    def _kept(self) -> None:
        """Leaves some of the final weights, evenly spaced: all of them would take long to compare."""
        if self._last is None:
            return
        busy, self._recorder.busy = self._recorder.busy, True
        try:
            found = array("d")
            for one in self._last():
                found.extend(one[:: max(1, len(one) // _MOST)])
            with open(os.path.join(self._recorder.folder, "weights"), "wb") as stream:  # noqa: PTH118, PTH123
                found.tofile(stream)
        finally:
            self._recorder.busy = busy

    @property
    def enough(self) -> bool:
        """Whether all that were asked for are recorded."""
        return bool(self._most and self.done >= self._most)

    def again(self) -> None:
        """Before a step: a program that has caught the first request to end is ended now."""
        if self.enough:
            self._recorder.flush()
            os._exit(ENOUGH)

    def stepped(self, name: str, text: str) -> None:
        """Writes a step down.

        Raises:
            Enough: it was the last that was asked for.
        """
        recorder = self._recorder
        self.done += 1
        recorder.event("step", self.done, name, text, _now())
        recorder.flush()
        if self.enough:
            recorder.event("end", "steps")
            recorder.flush()
            if threading.current_thread() is not threading.main_thread():
                os._exit(ENOUGH)
            raise Enough(ENOUGH)
