"""The functions of Python files, by their lines: enough to see what exports and gradients call, without parsing.

TensorFlow's ``python/ops`` hold 200 files and more of some thousand lines; reading them by indentation is a hundred
times faster than parsing them.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from d9mlint.kernels.source.repository import Repository

# With the newline rather than `^` in front, to which the search skips ahead.
_OUTER = re.compile(rb"\n[^\s#)\]}]")
_TOP = re.compile(rb"@|(?:async[ ]+)?def[ ]|class[ ]")
_DEFINED = re.compile(rb"(?:async[ ]+)?(?:def|class)[ ]+(\w+)")
_METHOD = re.compile(rb"^[ \t]+def[ ]+(\w+)", re.MULTILINE)
_EXPORT = re.compile(rb"@(?:\w+\.)*(?:tf|keras|estimator)_export\s*\(((?:[^()]|\([^()]*\))*)\)")
_APPLIED = re.compile(rb"(?:\w+\.)*(?:tf|keras)_export\(([^()]{1,300})\)\(([^)]{1,300})\)")
_GRADIENT = re.compile(rb"@(?:\w+\.)*RegisterGradient\(\s*[\"'](\w+)[\"']\s*\)")
_GENERATED = re.compile(rb"gen_\w+\._?(\w+)")
_STRING = re.compile(rb"[\"']([\w.]+)[\"']")
_STAR = rb"^[ \t]*from[ \t]+%s[ \t]+import[ \t]+(?:\*|\(?[^#\n]*\b%s\b)"
_WORD = re.compile(rb"\w+")
_ATTRIBUTE = re.compile(rb"\.(\w+)")
_GRADIENTS = b"RegisterGradient("
_EXPORTS = b"_export("
MAX_FILES = 300
"""So many Python files of a folder are looked through for an op."""
MAX_DEPTH = 3
"""Through so many functions of one file a call is followed."""


class Block(NamedTuple):
    """A function or class at the top of a Python file, with its decorators."""

    path: str
    data: bytes
    name: str
    start: int
    """The byte of its ``def`` or ``class``."""
    first: int
    end: int

    @property
    def is_class(self) -> bool:
        """Whether it is a class."""
        return self.data.startswith(b"class", self.start)

    @property
    def gradients(self) -> tuple[str, ...]:
        """The ops that it is registered as the gradient of."""
        return tuple(m.decode() for m in _GRADIENT.findall(self.data[self.first : self.start]))

    def qualified(self, at: int) -> str:
        """Its name, with the method at a place where it is a class."""
        return ".".join([self.name, *self._method(at)])

    def exported(self, at: int) -> list[str]:
        """The names under which it, or its method at a place, is exported; a private method's callers instead of it."""
        method = self._method(at)
        if not self.is_class or not method:
            return [f"tf.{name}" for name in self.exports]
        methods = method
        if method[0].startswith("_"):
            calls = (m.start() for m in re.finditer(rb"\bself\." + method[0].encode() + rb"\(", self.data[: self.end]))
            methods = [n for c in calls if c > self.start for n in self._method(c) if not n.startswith("_")]
        return [f"tf.{name}.{m}" for name in self.exports for m in dict.fromkeys(methods)]

    @property
    def exports(self) -> list[str]:
        """Its exported names, without ``tf.``."""
        written = b" ".join(_EXPORT.findall(self.data[self.first : self.start]))
        return [m.decode() for m in _STRING.findall(written)]

    def _method(self, at: int) -> list[str]:
        if not self.is_class:
            return []
        names = [m[1].decode() for m in _METHOD.finditer(self.data, self.start, max(self.start, at))]
        return names[-1:]


def blocks(path: str, data: bytes) -> list[Block]:
    """The functions and classes at the top of a file, in order."""
    found: list[Block] = []
    first = -1
    outer = [0, *(match.start() + 1 for match in _OUTER.finditer(data)), len(data)]
    for start, end in pairwise(outer):
        if _TOP.match(data, start) is None:
            continue
        first = start if first < 0 else first
        defined = _DEFINED.match(data, start)
        if defined is not None:
            found.append(Block(path, data, defined[1].decode(), start, first, end))
            first = -1
    return found


_Applied = tuple[list[str], frozenset[bytes], int]
"""An export that is called: its names, the words of what it is called with, its place."""


class _Index(NamedTuple):
    """The files of a folder by what they use."""

    generated: dict[bytes, list[str]]
    """By generated wrapper those that call it."""
    exporting: dict[bytes, list[str]]
    """By attribute (a function of a module) or argument of an export those that export something."""
    registering: dict[bytes, list[str]]
    """By attribute those that register gradients."""


class PythonFiles:
    """The Python files around C++ sources, each cut into blocks once."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._paths = tuple(p for p in repository.paths if p.endswith(".py"))
        self._known = frozenset(self._paths)
        self._groups: dict[str, tuple[tuple[str, ...], ...]] = {}
        self._indexes: dict[tuple[str, ...], _Index] = {}
        self._blocks: dict[str, list[Block]] = {}
        self._applied: dict[str, list[_Applied]] = {}

    def calling(self, source: str, word: bytes) -> list[str]:
        """The Python files that call a generated wrapper (``gen_x_ops.word``), of the nearest folder with any."""
        found = (self._index(group).generated.get(word) for group in self._around(source))
        return next((f for f in found if f), [])

    def holding(self, source: str, word: bytes) -> list[str]:
        """The Python files with a word, of the nearest folder above a source that has any."""
        found = ([p for p in group if word in self._repository.data(p)] for group in self._around(source))
        return next((f for f in found if f), [])

    def naming(self, source: str, word: bytes) -> list[str]:
        """The Python files that use a function and export something, of the nearest folder with generated wrappers.

        A twin with an underscore before it counts, here and below.
        """
        indexes = map(self._index, self._around(source))
        index = next((i for i in indexes if i.generated or i.exporting or i.registering), None)
        return _by_words(index.exporting, (word,)) if index is not None else []

    def gradients(self, source: str, word: bytes, words: Iterable[bytes]) -> list[str]:
        """The Python files that register gradients and use one of some functions of modules.

        Of the nearest folder where ``word`` is called, or used by such a file.
        """
        for group in self._around(source):
            index = self._index(group)
            if word in index.generated or _by_words(index.registering, (word,)):
                return _by_words(index.registering, words)
        return []

    def _index(self, group: tuple[str, ...]) -> _Index:
        if group not in self._indexes:
            index = self._indexes[group] = _Index({}, {}, {})
            for path in group:
                data = self._repository.data(path)
                _add(index.generated, set(_GENERATED.findall(data)), path)
                exports, gradients = _EXPORTS in data, _GRADIENTS in data
                attributes = set(_ATTRIBUTE.findall(data)) if exports or gradients else set()
                if gradients:
                    _add(index.registering, attributes, path)
                if exports:
                    _add(index.exporting, attributes.union(*(words for _, words, _ in self._exports(path))), path)
        return self._indexes[group]

    def _around(self, source: str) -> tuple[tuple[str, ...], ...]:
        """By folder above a source, from the nearest: the files below its ``python/ops``, or all if they are few."""
        folder = source.rpartition("/")[0]
        if folder not in self._groups:
            groups: list[tuple[str, ...]] = []
            for above in (folder.rsplit("/", n)[0] for n in range(folder.count("/") + 1)):
                groups.append(self._below(above + "/"))
            if folder and not source.startswith("/"):
                groups.append(self._below(""))
            self._groups[folder] = tuple(groups)
        return self._groups[folder]

    def _below(self, prefix: str) -> tuple[str, ...]:
        files = _starting(self._paths, prefix)
        ops = _starting(files, prefix + "python/ops/")
        return ops or (files if len(files) <= MAX_FILES else ())

    def blocks(self, path: str) -> list[Block]:
        """The blocks of a file."""
        if path not in self._blocks:
            self._blocks[path] = blocks(path, self._repository.data(path))
        return self._blocks[path]

    def reaching(self, path: str, places: list[int]) -> list[tuple[Block, int]]:
        """The blocks of a file in which some places are, and those that use such a function; with the place.

        It ends at exported functions: what calls those is another way to meet the op, with a name of its own.
        """
        data, everything = self._repository.data(path), self.blocks(path)
        starts = [b.start for b in everything]
        found: dict[int, tuple[Block, int]] = {}
        for _ in range(MAX_DEPTH):
            new = []
            for place in places:
                n = bisect_right(starts, place) - 1
                if n >= 0 and place < everything[n].end and starts[n] not in found:
                    found[starts[n]] = everything[n], place
                    new.append(everything[n])
            helpers = [b.name.encode() for b in new if not (b.is_class or b.exports or b.gradients)]
            places = sorted(at for name in helpers for at in _called(data, name))
        return [found[start] for start in sorted(found)]

    def applied(self, path: str, words: set[bytes]) -> list[tuple[list[str], int]]:
        """The names of exports that are called with a function: ``tf_export("x")(gen_x_ops.word)``; with the place."""
        return [(names, at) for names, given, at in self._exports(path) if not words.isdisjoint(given)]

    def _exports(self, path: str) -> list[_Applied]:
        if path not in self._applied:
            self._applied[path] = list(_applied(self._repository.data(path)))
        return self._applied[path]

    def dotted(self, path: str, name: str) -> str:
        """The shortest dotted name of a definition: of its module, or of a package above that imports it."""
        module = path[: -len(".py")].removesuffix("/__init__")
        parts = module.split("/")
        packages = [n for n in range(len(parts) - 1, 0, -1) if "/".join(parts[:n]) + "/__init__.py" in self._known]
        # Build tools add an ``__init__.py`` where one is missing below a package.
        top = packages[0] if packages else len(parts)
        while top - 1 in packages:
            top -= 1
        top -= 1
        dotted = ".".join(parts[top:])
        shown, first = dotted, name.partition(".")[0]
        for n in packages:
            data = self._repository.data("/".join(parts[:n]) + "/__init__.py")
            imported = _STAR % (re.escape(dotted).encode(), re.escape(first).encode())
            if n > top and dotted.encode() in data and re.search(imported, data, re.MULTILINE):
                shown = ".".join(parts[top:n])
        full = f"{shown}.{name}"
        return "tf" + full[len("tensorflow") :] if full.startswith("tensorflow.") else full


def _add(index: dict[bytes, list[str]], words: Iterable[bytes], path: str) -> None:
    for word in words:
        index.setdefault(word, []).append(path)


def _by_words(index: dict[bytes, list[str]], words: Iterable[bytes]) -> list[str]:
    """The files, sorted, with one of some words or its twin with an underscore before it."""
    return sorted({path for word in words for name in (word, b"_" + word) for path in index.get(name, ())})


def _starting(paths: tuple[str, ...], prefix: str) -> tuple[str, ...]:
    """Of sorted paths those that start so, which stand together."""
    first = bisect_left(paths, prefix)
    return paths[first : bisect_left(paths, True, first, key=lambda path: not path.startswith(prefix))]


def called(data: bytes, word: bytes, of: re.Pattern[bytes]) -> list[int]:
    """Where a function (or its twin with an underscore before it) of certain modules stands: ``gen_x_ops.word``."""
    found = []
    for name in (b"." + word, b"._" + word):
        at = data.find(name)
        while at >= 0:
            end = at + len(name)
            if not _WORD.match(data, end) and of.search(data[max(0, at - 59) : at]):
                found.append(at + 1)
            at = data.find(name, end)
    return sorted(found)


def _applied(data: bytes) -> Iterator[_Applied]:
    """The exports that are called at the start of a line."""
    at = data.find(_EXPORTS)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        match = _APPLIED.match(data, start)
        if match is not None:
            yield [f"tf.{n.decode()}" for n in _STRING.findall(match[1])], frozenset(_WORD.findall(match[2])), start
        end = data.find(b"\n", at)
        at = data.find(_EXPORTS, end) if end >= 0 else -1


def _called(data: bytes, name: bytes) -> list[int]:
    """Where a function of the file is called by its bare name."""
    found = []
    at = data.find(name + b"(")
    while at >= 0:
        before = data[max(0, at - 4) : at]
        if before != b"def " and not (before[-1:].isalnum() or before[-1:] in (b"_", b".")):
            found.append(at)
        at = data.find(name + b"(", at + len(name))
    return found
