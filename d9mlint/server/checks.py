"""When files are judged: one run at a time in a thread of its own; a request ends the run that it makes stale."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol, TypeVar

from d9mlint.model import D9mlintError
from d9mlint.server import judging
from d9mlint.server.judging import Open, Run

_T = TypeVar("_T")
_STACK = 256 * 1024 * 1024
"""Bytes of address space for the stack of the thread: programs are followed as deep as in a process of their own."""


class Stopped(Exception):
    """A run that somebody has ended."""


class Desk(Protocol):
    """Who asks for runs, and is told about them; called in the thread of the event loop."""

    def opened(self) -> Open:
        """What is to be judged now."""

    def progressed(self, done: int, total: int, name: str) -> None:
        """How far a run is; only runs that do not find everything in the cache tell."""

    def judged(self, now: Open, runs: tuple[Run, ...]) -> None:
        """What a run has found."""

    def failed(self, message: str) -> None:
        """Why there is nothing to show."""

    def ended(self) -> None:
        """A run has ended, in whatever way."""


class Checks:
    """The runs of a server."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        before = threading.stack_size(_STACK)
        try:
            self._pool = ThreadPoolExecutor(1, "d9mlint")
            self._pool.submit(int).result()  # the thread is made now
        finally:
            threading.stack_size(before)
        self._stop = threading.Event()
        self._wanted = False
        self._task: asyncio.Task[None] | None = None
        self._delayed: asyncio.TimerHandle | None = None

    def request(self, delay: float = 0.0) -> None:
        """Has everything judged that is open, in so many seconds; what is being judged is dropped then."""
        if self._delayed is not None:
            self._delayed.cancel()
        self._delayed = asyncio.get_running_loop().call_later(delay, self._start)

    def stop(self) -> None:
        """Ends the run that is under way."""
        self._stop.set()

    def close(self) -> None:
        """Ends all runs for good."""
        if self._delayed is not None:
            self._delayed.cancel()
        self._wanted = False
        self.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def work(self, what: Callable[[], _T]) -> _T:
        """Does something else in the thread of the runs, behind the one that is under way."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, what)

    def _start(self) -> None:
        self._wanted = True
        self.stop()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while self._wanted:
            self._wanted = False
            stop = self._stop = threading.Event()
            now = self._desk.opened()
            try:
                runs = await self.work(partial(judging.judge, now, self._watch(stop)))
            except Stopped:
                continue
            except D9mlintError as error:
                self._desk.failed(str(error))
            except Exception as error:  # noqa: BLE001 - the editor goes on, and shows it
                self._desk.failed(f"internal-error: {type(error).__name__}: {error}")
            else:
                if not stop.is_set():
                    self._desk.judged(now, runs)
            finally:
                self._desk.ended()

    def _watch(self, stop: threading.Event) -> Callable[[int, int, str], None]:
        """Tells how far a run is, and ends it where somebody has asked for that: between two programs."""
        loop = asyncio.get_running_loop()

        def watch(done: int, total: int, name: str) -> None:
            if stop.is_set():
                raise Stopped
            loop.call_soon_threadsafe(self._desk.progressed, done, total, name)

        return watch
