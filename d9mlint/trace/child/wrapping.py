"""Puts a function in the place of another that tells the recorder about each call."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .recorder import Recorder

_MOST = 20_000
"""Calls of one kind that are recorded in a process."""


class Wrapping:
    """Replaces functions of modules; a call is told of while the recorder is not busy itself."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._counts: dict[str, int] = {}

    def told(self, kind: str) -> bool:
        """Whether a call is to be told of."""
        if self.recorder.busy or self.recorder.closed:
            return False
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        return count <= _MOST

    def direct(self, depth: int = 2) -> Any:
        """The place of the caller if that is the user's own code, without a library between."""
        frame = sys._getframe(depth)
        path = self.recorder.places.file(frame.f_code)
        return (path, frame.f_lineno, frame.f_code.co_name) if path else None

    def replace(self, owner: Any, name: str, made: Callable[[Any], Any]) -> None:
        """Sets ``owner.name`` to what ``made`` makes of the real one; nothing where there is none."""
        real = getattr(owner, name, None)
        if callable(real):
            setattr(owner, name, functools.update_wrapper(made(real), real))
