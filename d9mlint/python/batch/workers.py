"""Worker processes that survive each other: one that dies takes only the name that it was busy with.

``concurrent.futures`` gives up the whole pool when a process dies, and does not say over what.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

Work = Callable[[str], Any]
_PATIENCE = 1.0
"""Seconds between looks whether the parent is still there."""


@dataclass(frozen=True, slots=True)
class Died:
    """In place of a result: the process ended while it worked on this name."""

    code: int | None


@dataclass(slots=True)
class _Running:
    process: Any
    pending: deque[str]


def spread(start: Callable[[Any], Work], job: Any, chunks: Sequence[Sequence[str]], count: int) -> Iterator[Any]:
    """Yields ``(name, result)``, in no fixed order; ``start(job)`` makes the worker's function once a process."""
    context: Any = get_context("fork" if os.name == "posix" else "spawn")
    waiting = deque(chunks)
    running: dict[Connection, _Running] = {}
    try:
        while waiting or running:
            while waiting and len(running) < count:
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, start, job, os.getpid()), daemon=True)
                process.start()
                theirs.close()
                running[ours] = _Running(process, deque())
                _hand_on(ours, running[ours], waiting)
            for connection in wait(list(running)):
                assert isinstance(connection, Connection)
                yield from _receive(connection, running, waiting)
    finally:
        for connection, one in running.items():
            connection.close()
            one.process.terminate()
            one.process.join()


def _receive(
    connection: Connection, running: dict[Connection, _Running], waiting: deque[Sequence[str]]
) -> Iterator[tuple[str, Any]]:
    one = running[connection]
    try:
        name, result = connection.recv()
    except (EOFError, OSError):
        del running[connection]
        connection.close()
        one.process.join()
        if one.pending:
            yield one.pending.popleft(), Died(one.process.exitcode)
        if one.pending:
            waiting.appendleft(tuple(one.pending))
        return
    one.pending.popleft()
    yield name, result
    if not one.pending:
        _hand_on(connection, one, waiting)


def _hand_on(connection: Connection, one: _Running, waiting: deque[Sequence[str]]) -> None:
    names = waiting.popleft() if waiting else ()
    one.pending.extend(names)
    try:
        connection.send(names)
    except OSError:
        return  # it has died, which the next look will tell


def _serve(connection: Connection, start: Callable[[Any], Work], job: Any, parent: int) -> None:
    """What a worker does: takes names until it gets none, or until its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends the workers
    work = start(job)
    while True:
        while not connection.poll(_PATIENCE):
            if os.getppid() != parent:
                return
        try:
            names = connection.recv()
        except EOFError:
            return
        if not names:
            return
        for name in names:
            result = work(name)
            if os.getppid() != parent:
                return
            connection.send((name, result))


__all__ = ["Died", "spread"]
