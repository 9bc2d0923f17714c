"""Where in the user's own code something happens: the innermost frame whose file belongs to the program."""

from __future__ import annotations

import os
import sys
import sysconfig
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OWN = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120
_DEEPEST = 200
_IMPORT = "<frozen importlib"
_GENERATED = "__autograph_generated_file"


class Places:
    """Tells the user's code from that of libraries, by the file that it comes from."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = tuple(os.path.realpath(root) + os.sep for root in roots)
        known = sysconfig.get_paths()
        outside = {known[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")} | {OWN}
        self._outside = tuple(os.path.realpath(one) + os.sep for one in outside)
        self._stands: dict[Any, Any] = {}
        self._translate: Any = None
        self._users: dict[Any, str] = {}
        """By code object: the file, or nothing where it is not the user's."""
        self._known: dict[Any, Any] = {}
        """By code object: the user's file; nothing for code that is passed over; else what is to be asked."""

    def stands(self, code: Any, told: Callable[[Any], Any]) -> None:
        """``told`` gives the place that a frame of the code stands for: of a layer, where it was made."""
        self._stands[code] = told
        self._known.clear()

    def translate(self, told: Callable[[str, int], Any]) -> None:
        """For generated code: ``told`` gives the user's place, by the name of the file and the line."""
        self._translate = told
        self._known.clear()

    def file(self, code: Any) -> str:
        """The user's file that the code is from, with no links in it; empty for code of others."""
        found = self._users.get(code)
        if found is None:
            found = self._users[code] = self._file(code.co_filename)
        return found

    def _file(self, name: str) -> str:
        if name.startswith("<") or _GENERATED in name:
            return ""
        path = os.path.realpath(name)
        inside = path.startswith(self._roots) and not path.startswith(self._outside)
        packages = ("%ssite-packages%s" % (os.sep, os.sep), "%sdist-packages%s" % (os.sep, os.sep))  # noqa: UP031
        return path if inside and not any(one in path for one in packages) else ""

    def path(self, name: str) -> str:
        """A file of the user's with no links in its path; empty for one of others."""
        return self._file(name)

    def owns(self, path: str) -> bool:
        """Whether a file lies in the user's folders."""
        return bool(self._file(path))

    def here(self, depth: int = 1) -> tuple[str, int, str] | None:
        """The innermost line of the user's on the way to the caller; None: a library does it when it is imported."""
        frame: Any = sys._getframe(depth)
        known = self._known
        for _ in range(_DEEPEST):
            code = frame.f_code
            found = known.get(code)
            if found is None:
                found = known[code] = self._about(code)
            if found != "":
                place = (found, frame.f_lineno, code.co_name) if isinstance(found, str) else found(frame)
                if place is not None:
                    return place or None
            frame = frame.f_back
            if frame is None:
                return None
        return None

    def _about(self, code: Any) -> Any:
        """What `here` is to do at a frame of the code."""
        name = code.co_filename
        if name.startswith(_IMPORT):
            return _nowhere
        path = self.file(code)
        if not path and code in self._stands:
            return self._stands[code]
        if not path and self._translate is not None and _GENERATED in name:
            return self._translated
        return path

    def _translated(self, frame: Any) -> Any:
        return self._translate(frame.f_code.co_filename, frame.f_lineno)


def _nowhere(_: Any) -> tuple[()]:
    """The way ends here."""
    return ()
