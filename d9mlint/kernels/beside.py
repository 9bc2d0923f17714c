"""A second process for what does not depend on what this one does meanwhile."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

_T = TypeVar("_T")
_PIECE = 1 << 20


@contextmanager
def beside(compute: Callable[[], _T], jobs: int = 0) -> Iterator[Callable[[], _T]]:
    """Starts ``compute`` in a second process, which sees everything as it is now; yields what gives its result, once.

    The result has to be picklable. It is computed here, when it is asked for, where there is no second process (one
    processor, ``jobs`` is 1, other threads, no ``fork``), and where that one dies. ``jobs`` 0: one a processor.
    """
    child = _started(compute) if _may_fork(jobs) else None
    try:
        yield compute if child is None else child.result
    finally:
        if child is not None:
            child.end()


@contextmanager
def numbers(count: int) -> Iterator[Iterator[int]]:
    """The numbers below ``count`` (at most 256), each taken by one of the processes that share them.

    A pipe hands each of its bytes out once.
    """
    taken, given = os.pipe()
    try:
        os.write(given, bytes(range(count)))
        os.close(given)
        yield (number for piece in iter(lambda: os.read(taken, 1), b"") for number in piece)
    finally:
        os.close(taken)


def _may_fork(jobs: int) -> bool:
    """A process with other threads must not fork: a lock that one of them holds would stay locked for ever."""
    return (jobs or _processors()) > 1 and hasattr(os, "fork") and threading.active_count() == 1


def _processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(slots=True)
class _Child(Generic[_T]):
    """A forked process; lighter than ``multiprocessing``, whose import takes as long as scanning 2,000 files."""

    process: int
    """Its number; 0 once it has ended."""
    answer: int
    """Where its result can be read."""
    compute: Callable[[], _T]

    def result(self) -> _T:
        """What the process computed; computed here where it died."""
        pieces = []
        while piece := os.read(self.answer, _PIECE):
            pieces.append(piece)
        if not self._ended_well():
            return self.compute()
        import pickle  # only needed where there is a second process

        found: _T = pickle.loads(b"".join(pieces))
        return found

    def end(self) -> None:
        """Ends the process if nobody has asked for its result."""
        os.close(self.answer)
        if self.process:
            with suppress(ProcessLookupError):
                os.kill(self.process, signal.SIGKILL)
            self._ended_well()

    def _ended_well(self) -> bool:
        process, self.process = self.process, 0
        try:
            return os.waitpid(process, 0)[1] == 0
        except ChildProcessError:  # who started this process has it ignore how its children end
            return False


def _started(compute: Callable[[], _T]) -> _Child[_T] | None:
    """The process; None where the system gives none."""
    answer, to = os.pipe()
    try:
        process = os.fork()
    except OSError:
        os.close(answer)
        os.close(to)
        return None
    if process == 0:
        os.close(answer)
        _serve(compute, to)
    os.close(to)
    return _Child(process, answer, compute)


def _widen(pipe: int) -> None:
    """Lets a pipe take more at once, where the system can: its two ends need not wait for each other then."""
    try:
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIECE)
    except (ImportError, AttributeError, OSError):  # no such system, not of Linux, more than the user may have
        return


def _serve(compute: Callable[[], object], to: int) -> None:
    """What the second process does; it never returns, so that nothing of the first one's is done twice."""
    code = 1
    try:
        import pickle

        gc.freeze()  # what the first process made stays where it is, in memory that both share
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        result = pickle.dumps(compute(), 5)
        _widen(to)
        with open(to, "wb") as pipe:
            pipe.write(result)
        code = 0
    finally:
        os._exit(code)  # without the handlers, buffers and messages of the first process
