"""What import lines alone tell, before anything is parsed: which files an entry reaches, and which releases it fits.

A screen, not an analysis: an import that only a program can work out is missed, and then costs time, not findings.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from d9mlint.discover.percent import is_percent
from d9mlint.model import Limit
from d9mlint.python.project import checkouts, signs
from d9mlint.python.project.importlines import ImportLine, import_lines
from d9mlint.python.source.filenames import LANDMARK, above, belongs_to, folder, join
from d9mlint.python.source.reading import NOTEBOOK, CannotRead, Reader, remembering

_INIT = ("__init__.py",)


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
        self._imports: dict[str, tuple[ImportLine, ...]] = {}
        self._packages: dict[str, frozenset[str]] = {}
        self._united: tuple[frozenset[str], frozenset[str]] = frozenset(), frozenset()
        """The files whose packages were last asked for, and these: many entries of a tree reach the same files."""
        self._firsts: dict[str, frozenset[str]] = {}
        """By file, what a root has to hold for one of its absolute imports to lead there."""
        self._inner: dict[str, tuple[tuple[str, str], ...]] = {}
        """By file, the first two parts of each dotted name that it imports."""
        self._found: dict[tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]], tuple[str, ...]] = {}
        self._roots: tuple[str, ...] = ()
        self._edges: dict[str, tuple[str, ...]] = {}
        """What files import under these roots, the last that were asked for."""
        self._rooted: frozenset[str] = frozenset()
        """The names in these roots."""
        self._limits: dict[str, tuple[Limit, ...]] = {}
        self._installs: dict[str, tuple[Limit, ...]] = {}

    def files(self, entry: str, roots: Sequence[str]) -> tuple[str, ...]:
        """The entry and what it imports, directly or not, in the order of discovery."""
        if self._roots != tuple(roots):
            self._roots, self._edges = tuple(roots), {}
            self._rooted = frozenset().union(*map(self._listed, roots))
        edges, seen, pending = self._edges, {entry: None}, [entry]
        while pending:
            here = pending.pop()
            reached = edges.get(here)
            if reached is None:
                reached = edges[here] = self._next(here)
            for path in reached:
                if path not in seen:
                    seen[path] = None
                    pending.append(path)
        return tuple(seen)

    def packages(self, files: Iterable[str]) -> frozenset[str]:
        """The top-level packages that these files import by absolute names."""
        key = frozenset(files)
        if key != self._united[0]:
            self._united = key, frozenset().union(*map(self._packages_of, key))
        return self._united[1]

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

    def _next(self, path: str) -> tuple[str, ...]:
        # As much of the roots as matters: each folder of a tree has its own.
        if path not in self._firsts:
            names = (f"{package}{ending}" for package in self._packages_of(path) for ending in ("", ".py"))
            self._firsts[path] = frozenset(names)
        firsts = self._firsts[path] & self._rooted
        near = tuple(root for root in self._roots if not self._listed(root).isdisjoint(firsts)) if firsts else ()
        homes = self._homes(path)
        key = (path, near, homes)
        if key not in self._found:
            self._found[key] = tuple(dict.fromkeys(self._resolved(path, near, dict(homes))))
        return self._found[key]

    def _homes(self, path: str) -> tuple[tuple[str, str], ...]:
        """The packages for which the file takes its own checkout, and the root that each is."""
        if path not in self._inner:
            taken = ((module.split("."), names) for level, module, names in self._imports_of(path) if not level)
            parts = ((first, inner) for (first, *inside), names in taken for inner in inside[:1] or names)
            self._inner[path] = tuple(dict.fromkeys(parts))
        found: dict[str, str] = {}
        for name, inner in self._inner[path]:
            # Most are of what is installed, and nothing here is called like a part of it.
            if self._rooted.isdisjoint((inner, f"{inner}.py")) or name in found:
                continue
            if self._rooted.isdisjoint((name, f"{name}.py")):
                home = checkouts.home(name, self._roots, path, self._imports_of(path), self.peek)
                found.update({} if home is None else {name: home})
        return tuple(found.items())

    def _resolved(self, path: str, roots: tuple[str, ...], homes: Mapping[str, str]) -> Iterator[str]:
        for level, module, names in self._imports_of(path):
            package, _, inside = module.partition(".")
            own = package in homes and not level
            bases = (homes[package],) if own else (above(path, level),) if level else roots
            if own:
                yield from (join(bases[0], name) for name in _INIT if name in self._listed(bases[0]))
            parts = list(filter(None, (inside if own else module).split(".")))
            for base in bases:
                if parts and self._listed(base).isdisjoint((parts[0], f"{parts[0]}.py")):
                    continue  # most imports are of what is installed
                if parts and not level and LANDMARK in self._listed(base) and not belongs_to(parts[0], base, path):
                    continue
                reached = [self._module(join(base, "/".join(parts[:i]))) for i in range(1, len(parts) + 1)]
                inner = [self._module(join(base, "/".join([*parts, name]))) for name in names]
                found = [p for p in (*reached, *inner) if p is not None]
                yield from found
                if found and (not parts or reached[-1] is not None or any(inner)):
                    break

    def _imports_of(self, path: str) -> tuple[ImportLine, ...]:
        if path not in self._imports:
            self._imports[path] = tuple(import_lines(self.peek(path) or b""))
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
