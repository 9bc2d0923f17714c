"""The files of a checkout, each read once and parsed at most once."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from d9mlint.kernels.source.looks import Look, Looked, looked_through
from d9mlint.kernels.source.vocabulary import Vocabulary

if TYPE_CHECKING:
    from d9mlint.kernels.source.unit import Unit

SUFFIXES = (
    ".cu", ".cuh", ".cc", ".h", ".hpp", ".cpp", ".cxx", ".c", ".hh", ".hxx", ".H", ".C", ".inc", ".inl", ".tpp", ".ipp",
    ".tcc", ".txx", ".hip", ".mm",
    ".ptx", ".hu", ".mu", ".muh", ".sycl", ".cu.in", ".cuh.in",
)  # fmt: skip
"""What a C++, CUDA, HIP, MUSA or SYCL source is called, also as a template of CMake (``.cuh.in``)."""
KERNEL_SUFFIXES = (".cu", ".cuh", ".cu.cc", ".cu.h", ".hip", ".ptx", ".hu", ".mu", ".muh", ".sycl", ".cu.in", ".cuh.in")
"""Sources that hold device code by their name."""
PLAIN_SUFFIXES = (".cc", ".cpp", ".cxx", ".c", ".mm")
"""Sources for the host's compiler, unless ``KERNEL_SUFFIXES`` says otherwise."""
MAX_BYTES = 4_000_000
"""Larger files are generated tables, not kernels written by hand."""
MAX_NESTING = 300
"""Deeper brackets are generated or garbage; the work on such a tree grows with the square of its depth."""
MAX_INCLUDES = 3_000

_BRACKETS = bytes(b for b in range(256) if b not in b"(){}[]")
_INCLUDE = re.compile(rb'#[ \t]*include[ \t]*["<]([^">\r\n]{1,300})[">]')
_QUALIFYING = re.compile(
    rb"#[ \t]*define[ \t]+([A-Z_]\w*)(?:\([\w, \t]*\))?[ \t]+"
    rb"((?:[^\n(\\]|\\\r?\n|__launch_bounds__[ \t]*\([^()\n]*\))*?__(?:global|device|shared)__[^\n(]*)"
)
_T = TypeVar("_T")


class Repository:
    """Sources by path (``/``-separated, as reports show them), bytes and trees on demand.

    ``read`` gives the bytes of a path and raises ``OSError``; ``paths`` are all files of the tree, of any kind, and
    ``unusual`` those that are C++ although their names do not say so.
    """

    def __init__(self, paths: Iterable[str], read: Callable[[str], bytes], unusual: Iterable[str] = ()) -> None:
        self.paths = tuple(sorted(paths))
        self.unusual = frozenset(unusual)
        self.sources = tuple(p for p in self.paths if p.endswith(SUFFIXES) or p in self.unusual)
        self.unchecked: dict[str, str] = {}
        self._read = read
        self._data: dict[str, bytes] = {}
        self._units: dict[str, Unit | None] = {}
        self._derived: dict[tuple[Callable[..., Any], Any], Any] = {}
        self._by_name: dict[str, list[str]] | None = None
        self._looked: dict[Look[Any], Mapping[str, Any]] = {}
        self._expected: Callable[[], Looked] | None = None
        self._vocabulary = Vocabulary(self.sources, self.data)

    def data(self, path: str) -> bytes:
        """The bytes of a file; empty (and named in ``unchecked``) where it cannot be read."""
        data = self._data.get(path)
        if data is None:
            try:
                data = self._read(path)
            except OSError as error:
                self.unchecked[path] = f"cannot be read: {error.strerror or error}"
                data = b""
            else:
                if path.endswith(KERNEL_SUFFIXES) and b"\0" in data:
                    self.unchecked[path] = _BINARY
            self._data[path] = data
        return data

    def forget(self, path: str) -> None:
        """Drops the bytes of a file, which are read again when they are asked for."""
        self._data.pop(path, None)

    def expect(self, looked: Callable[[], Looked]) -> None:
        """Takes the answers to looks from elsewhere, once the first of them is asked for."""
        self._expected = looked

    def looked(self, look: Look[_T]) -> Mapping[str, _T]:
        """What a look finds, by path, in the order of the paths; only files that hold something."""
        if self._expected is not None:
            expected, self._expected = self._expected, None
            self._looked.update(expected())
        if look not in self._looked:
            self._looked[look] = looked_through(self, (look,), self.paths, True)[0]
        return self._looked[look]

    def unit(self, path: str) -> Unit | None:
        """The parsed file; None where it is no source that can be parsed.

        What is not parsed, or ends in the middle, is named in ``unchecked``.
        """
        if path not in self._units:
            # What parses is imported here: until then another process may look through the files (``ahead``).
            from d9mlint.kernels.source.ending import open_end
            from d9mlint.kernels.source.qualifying import qualifying
            from d9mlint.kernels.source.unit import parsed

            data = self.data(path)
            unfit = _problem(data)
            problem = unfit or open_end(data)  # what ends too early is parsed all the same
            if problem:
                self.unchecked.setdefault(path, problem)
            hidden = self.derived(qualifying, "") if not unfit else frozenset()
            self._units[path] = None if unfit or not data else parsed(path, data, (1, 1), self.qualifier, hidden)
        return self._units[path]

    def qualifier(self, path: str, word: bytes) -> str:
        """What a macro says about where a function runs (``#define GLOBAL __global__``); or empty.

        One that the file sees, else one of another file: kernels may be included, or handed to a compiler, behind it.
        """
        return self.derived(_qualifiers, path).get(word) or self.derived(_everywhere, "").get(word, "")

    def mentioning(self, *words: bytes) -> list[str]:
        """The C++/CUDA sources whose bytes hold one of the words."""
        return [p for p in self.sources if any(w in self.data(p) for w in words)]

    def holding(self, word: bytes) -> list[str]:
        """The C++/CUDA sources in which a word stands as a whole; asked for hundreds of names."""
        return self._vocabulary.holding(word)

    def derived(self, compute: Callable[[Repository, str], _T], path: str) -> _T:
        """What ``compute(repository, path)`` gives, computed once."""
        key = (compute, path)
        if key not in self._derived:
            self._derived[key] = compute(self, path)
        return cast(_T, self._derived[key])

    def source_named(self, name: str, source: str) -> str | None:
        """The file that an ``#include`` of ``name`` in ``source`` means, as far as names tell.

        Beside the source first, else the one path that ends so; None for files outside of the tree and where several
        fit equally.
        """
        if self._by_name is None:
            self._by_name = defaultdict(list)
            for path in self.paths:
                self._by_name[path.rpartition("/")[2]].append(path)
        same = self._by_name.get(name.rpartition("/")[2])
        if same is None:
            return None
        folder = source.rpartition("/")[0]
        near = f"{folder}/{name}" if folder else name
        if "./" in near:
            near = posixpath.normpath(near)
            name = posixpath.normpath(name).lstrip("./")
        if near in same:
            return near
        fitting = [p for p in same if p == name or p.endswith("/" + name)]
        if len(fitting) > 1:
            shared = [len(posixpath.commonprefix([p, source])) for p in fitting]
            fitting = [p for p, length in zip(fitting, shared, strict=True) if length == max(shared)]
        return fitting[0] if len(fitting) == 1 else None

    def reachable(self, path: str) -> frozenset[str]:
        """The files of the tree that a file includes, directly or not, with the file itself."""
        return self.derived(_reachable, path)

    def users(self, path: str) -> frozenset[str]:
        """The device sources that can see what a file defines.

        Those that include it, directly or not, and what these include beside it; the file itself.
        """
        return self.derived(_users, path)


def shared_folders(path: str, other: str) -> int:
    """How many folders two files share, from the root on."""
    return shared_parts(path.split("/")[:-1], other.split("/")[:-1])


def folders_above(path: str) -> list[str]:
    """The folders that a file is in, from below the root on."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def nearer(path: str, folders: Container[str], other: str) -> bool:
    """Whether a file shares more with those whose ``folders`` are told than with another file."""
    return sum(1 for folder in folders_above(path) if folder in folders) > shared_folders(path, other)


def shared_parts(one: Sequence[str], other: Sequence[str]) -> int:
    """How many parts two names begin with alike: those of paths, or of namespaces."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def includes(repository: Repository, path: str) -> tuple[str, ...]:
    """The files of the tree that the ``#include`` lines of a file name, in order."""
    found = (repository.source_named(name, path) for name in included_names(repository, path))
    return tuple(dict.fromkeys(p for p in found if p is not None))


def _reachable(repository: Repository, path: str) -> frozenset[str]:
    pending = [path]
    found = {path}
    while pending and len(found) < MAX_INCLUDES:
        for target in repository.derived(includes, pending.pop()):
            if target not in found:
                found.add(target)
                pending.append(target)
    return frozenset(found)


def _users(repository: Repository, path: str) -> frozenset[str]:
    index = repository.derived(_including, "")
    including = {path}
    pending = [path]
    while pending and len(including) < MAX_INCLUDES:
        target = pending.pop()
        for source in index.get(target.rpartition("/")[2], ()):
            if source not in including and target in repository.derived(includes, source):
                including.add(source)
                pending.append(source)
    beside = (target for source in including for target in repository.derived(includes, source))
    return frozenset(including.union(beside))


def _plain(path: str) -> bool:
    return path.endswith(PLAIN_SUFFIXES) and not path.endswith(KERNEL_SUFFIXES)


def _names(data: bytes) -> tuple[str, ...]:
    return tuple(name.decode("utf-8", "replace") for name in _INCLUDE.findall(data))


INCLUDED = Look(SUFFIXES, lambda path, data: () if _plain(path) else _names(data))
"""What the ``#include`` lines of headers and device sources name; of others it is seldom asked."""


def included_names(repository: Repository, path: str) -> tuple[str, ...]:
    """The names in the ``#include`` lines of a source, in order."""
    return _names(repository.data(path)) if _plain(path) else repository.looked(INCLUDED).get(path, ())


def _including(repository: Repository, _: str) -> dict[str, list[str]]:
    """By the last part of the name: headers and device sources that include such a file."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, names in repository.looked(INCLUDED).items():
        for name in dict.fromkeys(names):
            found[name.rpartition("/")[2]].append(path)
    return found


def _qualifiers(repository: Repository, path: str) -> dict[bytes, str]:
    """The macros that a file sees and whose bodies hold a word of CUDA."""
    found: dict[bytes, str] = {}
    for source in sorted(repository.reachable(path)):
        for name, body in repository.derived(_qualifying, source):
            found[name] = found.get(name, "") + " " + body
    return found


def _qualifying(repository: Repository, path: str) -> list[tuple[bytes, str]]:
    """Those that a file itself defines; it is asked for each file that sees it."""
    data = repository.data(path)
    if b"__global__" not in data and b"__device__" not in data and b"__shared__" not in data:
        return []
    return [(name, body.decode("ascii", "replace")) for name, body in _QUALIFYING.findall(data)]


def _everywhere(repository: Repository, _: str) -> dict[bytes, str]:
    """The same of all sources that name a qualifier of CUDA in a macro."""
    from d9mlint.kernels.source.qualifying import QUALIFIERS

    found: dict[bytes, str] = {}
    for source in repository.looked(QUALIFIERS):
        for name, body in repository.derived(_qualifying, source):
            found[name] = found.get(name, "") + " " + body
    return found


_BINARY = "not a text file (it holds NUL bytes)"


def _problem(data: bytes) -> str:
    if b"\0" in data:
        return _BINARY
    if len(data) > MAX_BYTES:
        return f"larger than {MAX_BYTES // 1_000_000} MB"
    return f"brackets nested deeper than {MAX_NESTING}" if _deep(data) else ""


def _deep(data: bytes) -> bool:
    """Whether brackets nest too deeply: pairs are removed from the inside, a level each time."""
    left = data.translate(None, _BRACKETS)
    for _ in range(MAX_NESTING):
        before = len(left)
        left = left.replace(b"()", b"").replace(b"{}", b"").replace(b"[]", b"")
        if len(left) == before:
            return any(bracket * MAX_NESTING in left for bracket in (b"(", b"{", b"["))
    return True
