"""What the user's own lines leave in their variables, for a difference that comes out of plain Python.

Every executed line of the program's files is followed (`sys.settrace`), so this stage is slow; it is run only when the
ops do not tell where a difference comes from. What has no order (sets) is told without one.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .recorder import digest

if TYPE_CHECKING:
    from .recorder import Recorder

_MOST = 60
"""Values that are told of each variable on each line."""
_LONG, _DEEP = 2000, 4
_PLAIN = (int, float, bool, str, bytes, complex, type(None))
_UNKNOWN = object()


class _Values:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._counts: dict[Any, int] = {}

    def called(self, frame: Any, event: str, arg: Any) -> Any:
        """The tracer of a frame: only of the user's own code, and not of what runs at each element."""
        recorder = self._recorder
        if event != "call" or recorder.busy or recorder.closed or not recorder.places.file(frame.f_code):
            return None
        seen: dict[str, Any] = {}
        last = [frame.f_lineno]

        def line(frame: Any, event: str, arg: Any) -> Any:
            if recorder.closed:
                return None
            self._told(frame, last[0], seen, arg if event == "return" else _UNKNOWN)
            last[0] = frame.f_lineno
            return line

        self._told(frame, last[0], seen, _UNKNOWN)  # its arguments
        return line

    def _told(self, frame: Any, number: int, seen: dict[str, Any], returned: Any) -> None:
        """The variables that the line before this one has changed, and what the function returns."""
        values = dict(frame.f_locals)
        own = values.get("self")
        if own is not None and hasattr(own, "__dict__"):
            values.update(("self." + name, one) for name, one in vars(own).items())
        if returned is not _UNKNOWN:
            values["return"] = returned
        recorder = self._recorder
        for name, value in values.items():
            plain = _plain(value, _DEEP)
            if plain is _UNKNOWN:
                continue
            text = digest(plain)
            if seen.get(name) == text:
                continue
            seen[name] = text
            path = recorder.places.file(frame.f_code)
            key = (path, number, name)
            count = self._counts[key] = self._counts.get(key, 0) + 1
            if count <= _MOST:
                place = recorder.number_of((path, number, frame.f_code.co_name))
                recorder.event("value", place, name, text, _bag(plain))


def _bag(value: Any) -> str:
    """The same for the same elements in any order; of what has no elements nothing."""
    return digest(sorted(map(repr, value))) if isinstance(value, list) else ""


def _plain(value: Any, depth: int) -> Any:
    """The value in terms of what has a text that is the same in each process; else unknown."""
    if isinstance(value, _PLAIN):
        return value
    if depth == 0:
        return _UNKNOWN
    if isinstance(value, (set, frozenset)):
        inside = [_plain(one, depth - 1) for one in value] if len(value) <= _LONG else [_UNKNOWN]
        return _UNKNOWN if _UNKNOWN in inside else ("set", sorted(map(repr, inside)))
    if isinstance(value, dict):
        value = [list(pair) for pair in value.items()] if len(value) <= _LONG else [_UNKNOWN]
    if isinstance(value, (list, tuple)) and len(value) <= _LONG:
        inside = [_plain(one, depth - 1) for one in value]
        return _UNKNOWN if any(one is _UNKNOWN for one in inside) else inside
    if type(value).__module__ == "numpy" and hasattr(value, "tobytes") and getattr(value, "nbytes", 2**62) < 2**16:
        return ["array", digest(value.tobytes())] if not getattr(value.dtype, "hasobject", True) else _UNKNOWN
    return _UNKNOWN


def install(recorder: Recorder) -> None:
    """In the main thread, from the program's first line on."""
    sys.settrace(_Values(recorder).called)
