"""A progress bar on the error stream, for runs that take a while and somebody who watches them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from d9mlint.report.words import printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from d9mlint.python.batch.run import Watch

DELAY = 2.0
"""Seconds before the bar appears: what is over by then needs none."""


@contextmanager
def progress(*, quiet: bool) -> Iterator[Watch | None]:
    """What is to be called with the entries done, all entries and the present one; None where nobody would see it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    timer = threading.Timer(DELAY, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield bar.update
    finally:
        timer.cancel()
        bar.close()


class _Bar:
    """The bar: entries done, the time left, the entry that is looked at now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown: Progress | None = None
        self._task: TaskID | None = None
        self._now = (0, 0, "reading")
        self._closed = False

    def show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            BarColumn(30),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
        )
        with self._lock:
            if self._closed:
                return
            done, total, name = self._now
            self._shown = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._shown.add_task(name, completed=done, total=total or None)
            self._shown.start()

    def update(self, done: int, total: int, name: str) -> None:
        name = printable(name)  # it comes from somebody else's disk
        with self._lock:
            self._now = (done, total, name)
            if self._shown is not None and self._task is not None:
                self._shown.update(self._task, completed=done, total=total, description=name)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._shown is not None:
                self._shown.stop()
