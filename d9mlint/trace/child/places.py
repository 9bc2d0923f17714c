"""Where in the user's own code something happens: the innermost frame whose file belongs to the program."""

from __future__ import annotations

import os
import sys
import sysconfig
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OWN = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120
_DEEPEST = 200
_IMPORT = "<frozen importlib"
_GENERATED = "__autograph_generated_file"
_MANY = 50_000
"""Code objects that are remembered."""
_number = object.__hash__
"""Tells one object from another, as `id` does, of which hooks are told; to hash code takes as long as it is."""


class Places:
    """Tells the user's code from that of libraries, by the file that it comes from."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = tuple(os.path.realpath(root) + os.sep for root in roots)
        known = sysconfig.get_paths()
        outside = {known[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")} | {OWN}
        self._outside = tuple(os.path.realpath(one) + os.sep for one in outside)
        self._stands: dict[Any, Any] = {}
        self._translate: Any = None
        self._users: dict[int, str] = {}
        """By code object: the file, or nothing where it is not the user's."""
        self._known: dict[int, Any] = {}
        """By code object: the user's file; nothing for code that is passed over; else what is to be asked."""
        self._passed: set[int] = set()
        """Namespaces of modules whose code is all passed over: hooks are told of each look at a frame's code."""
        self._alive: list[Any] = []
        """What is known by its number, so that nothing else takes that."""

    def stands(self, code: Any, told: Callable[[Any], Any]) -> None:
        """``told`` gives the place that a frame of the code stands for: of a layer, where it was made."""
        self._stands[code] = told
        self._forget()

    def translate(self, told: Callable[[str, int], Any]) -> None:
        """For generated code: ``told`` gives the user's place, by the name of the file and the line."""
        self._translate = told
        self._forget()

    def file(self, code: Any) -> str:
        """The user's file that the code is from, with no links in it; empty for code of others."""
        found = self._users.get(_number(code))
        if found is None:
            found = self._file(code.co_filename)
            self._users[self._kept(code)] = found
        return found

    def _kept(self, known: Any) -> int:
        """What something is known by from now on."""
        if len(self._alive) >= _MANY:  # a program that makes functions without end
            self._forget()
        self._alive.append(known)
        return _number(known)

    def _forget(self) -> None:
        for several in (self._users, self._known, self._passed, self._alive):
            several.clear()

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
        known, passed = self._known, self._passed
        for _ in range(_DEEPEST):
            if _number(frame.f_globals) not in passed:
                code = frame.f_code
                found = known.get(_number(code))
                if found is None:
                    found = self._about(code)
                    known[self._kept(code)] = found
                    if found == "" and self._foreign(frame.f_globals):
                        passed.add(self._kept(frame.f_globals))
                if found != "":
                    place = (found, frame.f_lineno, code.co_name) if isinstance(found, str) else found(frame)
                    if place is not None:
                        return place or None
            frame = frame.f_back
            if frame is None:
                return None
        return None

    def _foreign(self, names: Any) -> bool:
        """Whether these are the names of a library's module, whose code stands for no place of the user's."""
        name, path = names.get("__name__"), names.get("__file__")
        if self._translate is not None or not isinstance(path, str) or not isinstance(name, str):
            return False
        module = sys.modules.get(name)
        if not isinstance(module, ModuleType) or module.__dict__ is not names or name.startswith("importlib"):
            return False
        return not self._file(path) and all(code.co_filename != path for code in self._stands)

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
