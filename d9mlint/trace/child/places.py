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


class Places:
    """Tells the user's code from that of libraries, by the file that it comes from."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = tuple(os.path.realpath(root) + os.sep for root in roots)
        known = sysconfig.get_paths()
        outside = {known[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")} | {OWN}
        self._outside = tuple(os.path.realpath(one) + os.sep for one in outside)
        self._users: dict[Any, str] = {}
        """By code object: the file, or nothing where it is not the user's."""

    def file(self, code: Any) -> str:
        """The user's file that the code is from, with no links in it; empty for code of others."""
        found = self._users.get(code)
        if found is None:
            found = self._users[code] = self._file(code.co_filename)
        return found

    def _file(self, name: str) -> str:
        if name.startswith("<"):
            return ""
        path = os.path.realpath(name)
        inside = path.startswith(self._roots) and not path.startswith(self._outside)
        packages = ("%ssite-packages%s" % (os.sep, os.sep), "%sdist-packages%s" % (os.sep, os.sep))  # noqa: UP031
        return path if inside and not any(one in path for one in packages) else ""

    def owns(self, path: str) -> bool:
        """Whether a file lies in the user's folders."""
        return bool(self._file(path))

    def here(self, depth: int = 1) -> tuple[str, int, str] | None:
        """The innermost line of the user's on the way to the caller."""
        frame = sys._getframe(depth)
        for _ in range(_DEEPEST):
            path = self.file(frame.f_code)
            if path:
                return path, frame.f_lineno, frame.f_code.co_name
            if frame.f_back is None:
                return None
            frame = frame.f_back
        return None
