"""Which files the program writes and reads, as Python's audit events tell; what C++ opens only the parent sees."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from .recorder import digest

if TYPE_CHECKING:
    from .recorder import Recorder

_MOST = 5000
_SMALL = 2**22
_CODE = (".py", ".pyc", ".so", ".pth", ".pyd", ".dll")
_SYSTEM = ("/proc", "/sys", "/dev/pts")
_PACKAGES = tuple(os.sep + one + os.sep for one in ("site-packages", "dist-packages"))
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND


class _Files:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._known: set[tuple[str, str]] = set()
        self._busy = False
        self._outside = tuple(
            os.path.realpath(one) + os.sep for one in (sys.prefix, sys.base_prefix, recorder.folder, *_SYSTEM)
        )

    def __call__(self, event: str, args: Any) -> None:
        if event == "open":
            self._opened(*args)
        elif event == "os.rename" and len(args) > 1:
            self._told("write", args[1])

    def _opened(self, path: Any, mode: Any, flags: Any) -> None:
        if not isinstance(path, (str, bytes)):
            return
        if mode is not None:
            writes = any(letter in mode for letter in "wax+")
        else:
            writes = bool(isinstance(flags, int) and flags & _WRITING)
        self._told("write" if writes else "read", path)

    def _told(self, kind: str, path: Any) -> None:
        if self._busy or self._recorder.worker or len(self._known) > _MOST:
            return
        name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100
        if (
            name.endswith(_CODE)
            or (name.startswith("/dev/") and not name.startswith("/dev/shm/"))
            or name.startswith(self._outside)
            or any(one in name for one in _PACKAGES)
            or (kind, name) in self._known
        ):
            return
        self._known.add((kind, name))
        self._recorder.event(kind, self._recorder.place(4), name, self._content(name) if kind == "read" else "")

    def _content(self, name: str) -> str:
        """A digest of a small file, of a large one its size."""
        if self._busy:
            return ""
        self._busy = True
        try:
            size = os.path.getsize(name) if os.path.isfile(name) else 0  # noqa: PTH113, PTH202
            if not 0 < size <= _SMALL:
                return str(size)
            with open(name, "rb") as stream:  # noqa: PTH123
                return digest(stream.read())
        except OSError:
            return ""
        finally:
            self._busy = False


def install(recorder: Recorder) -> None:
    """From now on, until the process ends: an audit hook cannot be taken away."""
    sys.addaudithook(_Files(recorder))
