"""What import lines alone tell, before anything is parsed: which files an entry reaches, and which releases it fits.

A screen, not an analysis: an import that only a program can work out is missed, and then costs time, not findings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from d9mlint.discover.percent import is_percent
from d9mlint.model import Limit
from d9mlint.python.project import signs
from d9mlint.python.source.filenames import LANDMARK, above, belongs_to, folder, join
from d9mlint.python.source.reading import NOTEBOOK, CannotRead, Reader, remembering

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*(\([^)]{0,4000}\)|[^\n#]+)|import[ \t]+([^\n#]+))",
    re.MULTILINE,
)
_WORD = re.compile(rb"[\w.]+")


class Reach:
    """The files of entries, by import lines; each file is read once, each folder listed once."""

    def __init__(self, read: Reader, cwd: Path, gone: Iterable[str] = ()) -> None:
        """``gone`` are files that are taken to be there: who asks what reached them before they were deleted."""
        self.read = remembering(read)
        self._cwd = cwd
        self._gone: dict[str, set[str]] = {}
        for path in gone:
            parts = path.split("/")
            for number, name in enumerate(parts):
                self._gone.setdefault("/".join(parts[:number]), set()).add(name)
        self._names: dict[str, frozenset[str]] = {}
        self._imports: dict[str, tuple[tuple[int, str, tuple[str, ...]], ...]] = {}
        self._packages: dict[str, frozenset[str]] = {}
        self._firsts: dict[str, frozenset[str]] = {}
        """By file, what a root has to hold for one of its absolute imports to lead there."""
        self._found: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}
        self._limits: dict[str, tuple[Limit, ...]] = {}
        self._installs: dict[str, tuple[Limit, ...]] = {}

    def files(self, entry: str, roots: Sequence[str]) -> tuple[str, ...]:
        """The entry and what it imports, directly or not, in the order of discovery."""
        seen = {entry: None}
        pending = [entry]
        while pending:
            for path in self._next(pending.pop(), tuple(roots)):
                if path not in seen:
                    seen[path] = None
                    pending.append(path)
        return tuple(seen)

    def packages(self, files: Iterable[str]) -> frozenset[str]:
        """The top-level packages that these files import by absolute names."""
        return frozenset().union(*map(self._packages_of, files))

    def _packages_of(self, path: str) -> frozenset[str]:
        if path not in self._packages:
            imports = self._imports_of(path)
            self._packages[path] = frozenset(module.partition(".")[0] for level, module, _ in imports if not level)
        return self._packages[path]

    def limits(self, files: Collection[str]) -> list[Limit]:
        """What the names used in these files say about releases, the tightest first."""
        found: dict[tuple[str, str], Limit] = {}
        for path in files:
            if path not in self._limits:
                self._limits[path] = tuple(signs.limits(path, self.peek(path) or b""))
            for limit in self._limits[path]:
                found.setdefault((limit.package, limit.specifier), limit)
        shown = [found[key] for key in signs.KEYS if key in found]
        return [*(limit for path in files for limit in self._installed(path)), *shown]

    def _installed(self, path: str) -> tuple[Limit, ...]:
        """What a notebook or a script in percent format installs."""
        if path not in self._installs:
            data = self.peek(path) or b""
            if path.endswith(NOTEBOOK) or (b"pip" in data and is_percent(data)):
                from d9mlint.python.source.notebooks import installed

                self._installs[path] = tuple(installed(data.decode("utf-8", "replace"), path))
            else:
                self._installs[path] = ()
        return self._installs[path]

    def _next(self, path: str, roots: tuple[str, ...]) -> tuple[str, ...]:
        # As much of the roots as matters: each folder of a tree has its own.
        if path not in self._firsts:
            names = (f"{package}{ending}" for package in self._packages_of(path) for ending in ("", ".py"))
            self._firsts[path] = frozenset(names)
        near = tuple(root for root in roots if not self._listed(root).isdisjoint(self._firsts[path]))
        key = (path, near)
        if key not in self._found:
            self._found[key] = tuple(dict.fromkeys(self._resolved(path, near)))
        return self._found[key]

    def _resolved(self, path: str, roots: tuple[str, ...]) -> Iterator[str]:
        for level, module, names in self._imports_of(path):
            bases = (above(path, level),) if level else roots
            parts = module.split(".") if module else []
            for base in bases:
                if parts and self._listed(base).isdisjoint((parts[0], f"{parts[0]}.py")):
                    continue  # most imports are of what is installed
                if not level and LANDMARK in self._listed(base) and not belongs_to(parts[0], base, path):
                    continue
                reached = [self._module(join(base, "/".join(parts[:i]))) for i in range(1, len(parts) + 1)]
                inner = [self._module(join(base, "/".join([*parts, name]))) for name in names]
                found = [p for p in (*reached, *inner) if p is not None]
                yield from found
                if found and (not parts or reached[-1] is not None or any(inner)):
                    break

    def _imports_of(self, path: str) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
        if path not in self._imports:
            self._imports[path] = tuple(_import_lines(self.peek(path) or b""))
        return self._imports[path]

    def _module(self, base: str) -> str | None:
        name = base.rpartition("/")[2]
        beside = self._listed(folder(base))
        if name in beside and "__init__.py" in self._listed(base):
            return base + "/__init__.py"
        return base + ".py" if name + ".py" in beside else None

    def _listed(self, path: str) -> frozenset[str]:
        if path not in self._names:
            try:
                self._names[path] = frozenset(os.listdir(os.path.join(self._cwd, path)))  # noqa: PTH118, PTH208
            except (OSError, ValueError):
                self._names[path] = frozenset()
            self._names[path] |= self._gone.get(path, set())
        return self._names[path]

    def peek(self, path: str) -> bytes | None:
        """The bytes of a file; None where there is none, or where it cannot be read."""
        try:
            return self.read(path)
        except CannotRead:
            return None


def _import_lines(data: bytes) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    for dots, module, names, plain in _IMPORT.findall(data):
        if plain:
            for one in plain.split(b","):
                word = _WORD.search(one)
                if word:
                    yield 0, word[0].decode("utf-8", "replace"), ()
        else:
            words = (_WORD.search(one) for one in names.split(b","))
            yield (
                len(dots),
                module.decode("utf-8", "replace"),
                tuple(w[0].decode("utf-8", "replace") for w in words if w),
            )
