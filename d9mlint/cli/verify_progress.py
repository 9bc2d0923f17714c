"""How far ``d9mlint verify`` is: a bar on a terminal, else a line now and then; reports that grow as it goes on."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from d9mlint.model import Case

EVERY = 30.0
"""Seconds between two lines where no terminal shows a bar."""
_KEEPING = 2.0
"""Seconds between two drafts of a report."""


class Progress:
    """Where a run is: which case is under way, and how many are done."""

    def __init__(
        self, total: int, shown: Callable[[Progress], None], kept: Callable[[], None], noun: str = "cases"
    ) -> None:
        self.total, self._noun = total, noun
        self.done = 0
        self.under_way = "starting the processes"
        self._start = self._kept = time.monotonic()
        self._shown, self._keep = shown, kept

    def begin(self, case: Case) -> None:
        """The case is about to be executed."""
        self.now(case.key)

    def now(self, name: str) -> None:
        """What is called so is under way."""
        self.under_way = name
        self._shown(self)

    def end(self) -> None:
        """It was; what is known is kept, unless it just was."""
        self.done += 1
        self._shown(self)
        if time.monotonic() - self._kept > _KEEPING:
            self._kept = time.monotonic()
            self._keep()

    @property
    def line(self) -> str:
        """For who has no terminal."""
        seconds = time.monotonic() - self._start
        return f"d9mlint: {self.done} of {self.total} {self._noun} after {seconds:.0f} s, now {self.under_way}"


@contextmanager
def progress(total: int, kept: Callable[[], None], every: float = EVERY, noun: str = "cases") -> Iterator[Progress]:
    """Shows a bar on a terminal, else a line on the error stream every so many seconds; ``kept`` writes reports."""
    if not sys.stderr.isatty():
        with _lines(Progress(total, lambda _: None, kept, noun), every) as found:
            yield found
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (BarColumn(30), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("starting", total=total)
        yield Progress(total, lambda one: bars.update(task, completed=one.done, description=one.under_way), kept)


@contextmanager
def _lines(found: Progress, every: float) -> Iterator[Progress]:
    """A thread says where the run is: a case may take long, or hang until its time is over."""
    over = threading.Event()

    def tell() -> None:
        while not over.wait(every):
            click.echo(found.line, err=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield found
    finally:
        over.set()
        teller.join()
