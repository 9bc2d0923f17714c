"""A request to end (SIGTERM, of a scheduler or `timeout`) is taken like Ctrl-C: what was seen until then is told."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ended_like_interrupted() -> Iterator[None]:
    """Inside, SIGTERM raises ``KeyboardInterrupt``; a second one changes nothing more. Only for the main thread."""

    def ended(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, ended)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
