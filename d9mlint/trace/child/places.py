"""Where in the user's own code something happens: the innermost frame whose file belongs to the program."""

from __future__ import annotations

import os
import sys
import sysconfig
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        self.stands: dict[Any, Any] = {}
        """By code object, what tells the place that a frame of it stands for: a layer, where it was made."""
        self.translate: Any = None
        """For generated code: the user's place, by the name of the file and the line."""
        self._users: dict[Any, str] = {}
        """By code object: the file, or nothing where it is not the user's."""

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
        frame = sys._getframe(depth)
        for _ in range(_DEEPEST):
            path = self.file(frame.f_code)
            if frame.f_code.co_filename.startswith(_IMPORT):
                return None
            if path:
                return path, frame.f_lineno, frame.f_code.co_name
            found = self._instead(frame)
            if found is not None:
                return found
            if frame.f_back is None:
                return None
            frame = frame.f_back
        return None

    def _instead(self, frame: Any) -> tuple[str, int, str] | None:
        """The place that a frame of others stands for."""
        code: Any = frame.f_code
        found = None
        if code in self.stands:
            found = self.stands[code](frame)
        elif self.translate is not None and _GENERATED in code.co_filename:
            found = self.translate(code.co_filename, frame.f_lineno)
        return found
