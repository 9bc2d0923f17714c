"""What all light probes do at a step: count, write down, and end the program after enough of them."""

from __future__ import annotations

import _thread
import ctypes
import os
import sys
import threading
import time
from array import array
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .leftovers import Leftovers

if TYPE_CHECKING:
    from .recorder import Recorder

ENOUGH = 0
_MOST = 5000
"""Weights of each tensor that are kept at the end."""
_ASKED = 3
"""How often the program is asked to end before it is ended without a question."""
_PATIENCE = 30.0
"""Seconds that it has to end after it was asked: it may take the request for an error, and go on without steps."""
_now, _sleep = time.perf_counter, time.sleep  # as they are before anything is put in their place


class Enough(SystemExit):
    """The steps that were asked for are recorded: the program is ended as by ``sys.exit``.

    No ``except Exception`` catches it, ``finally`` and ``with`` do their work.
    """


class Steps:
    """The steps of a process, of whichever optimizers.

    ``most``: after which it is ended, 0 for none; ``byte``: as in `Leftovers`.
    """

    def __init__(self, recorder: Recorder, most: int, keeping: bool = False, byte: int = 0) -> None:
        self._recorder, self._most = recorder, most
        self._leftovers = Leftovers(byte)
        self._begin()
        os.register_at_fork(after_in_child=self._begin)
        if keeping:
            recorder.at_end.append(self._kept)
        self._keeping = keeping

    def _begin(self) -> None:
        self.done = self._asked = 0
        self._last: Any = None

    def keep(self, numbers: Any) -> None:
        """In a study: what gives the weights after the last step, a list of lists of numbers."""
        if self._keeping:
            self._last = numbers

    def _kept(self) -> None:
        """Leaves some of the final weights, evenly spaced: all of them would take long to compare."""
        if self._last is None:
            return
        with self._recorder.apart():
            found = array("d")
            for one in self._last():
                found.extend(one[:: max(1, len(one) // _MOST)])
            with open(os.path.join(self._recorder.folder, self._recorder.program + ".weights"), "wb") as stream:  # noqa: PTH118, PTH123
                found.tofile(stream)

    @property
    def enough(self) -> bool:
        """Whether all that were asked for are recorded."""
        return bool(self._most and self.done >= self._most)

    def again(self) -> None:
        """Before a step: a program that has caught the request to end is asked again, and then ended.

        Raises:
            Enough: the steps that were asked for are recorded.
        """
        if self.enough:
            self._ask()

    def _ask(self) -> None:
        self._asked += 1
        if self._asked > _ASKED:
            _over(self._recorder)
        if self._asked == 1:
            _thread.start_new_thread(_impatient, (self._recorder,))
        if threading.current_thread() is not threading.main_thread():
            main = ctypes.c_ulong(threading.main_thread().ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(Enough))
            raise SystemExit(ENOUGH)  # `threading` is silent about this class only
        raise Enough(ENOUGH)

    def stepped(self, name: str, text: str) -> None:
        """Writes a step down.

        Raises:
            Enough: it was the last that was asked for.
        """
        recorder = self._recorder
        self.done += 1
        recorder.event("step", self.done, name, text, _now())
        recorder.flush()
        self._leftovers.stepped(self.done)
        if self.enough:
            recorder.event("end", "steps")
            recorder.flush()
            self._ask()


def _impatient(recorder: Recorder) -> None:
    _sleep(_PATIENCE)
    _over(recorder)


def _over(recorder: Recorder) -> None:
    """Ends the process, whatever the program makes of exceptions; what it has written is kept."""
    with suppress(Exception):
        recorder.ended()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(ENOUGH)
