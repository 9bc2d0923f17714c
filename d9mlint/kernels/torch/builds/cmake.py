"""What compiled modules CMake builds, of which sources: by pybind11's functions, and by a project's own around them.

https://pybind11.readthedocs.io/en/stable/compiling.html#pybind11-add-module
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from d9mlint.kernels.source.repository import Repository

_MAKERS = frozenset(
    (b"pybind11_add_module", b"nanobind_add_module", b"python_add_library", b"define_gpu_extension_target")
)
_CALL = re.compile(rb"^[ \t]*(\w+)[ \t]*\(([^()]*)\)", re.MULTILINE)
_OWN = re.compile(
    rb"^[ \t]*(?:function|macro)[ \t]*\(\s*(\w+)\s+(\w+)[^()]*\)(.*?)^[ \t]*end(?:function|macro)\b",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_COMMENT = re.compile(rb"#[^\n]*")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
SOURCES = (".cpp", ".cu", ".cc", ".cxx", ".c", ".hip")
"""How the sources of extensions end."""
_MAX_WRAPPED = 4
"""Functions of a project around each other."""


class Module(NamedTuple):
    """A compiled module and the sources that stand beside its name."""

    name: str
    sources: tuple[str, ...]
    path: str
    """The file that says so."""


def modules(repository: Repository) -> list[Module]:
    """All compiled modules that the files of CMake name."""
    files = [p for p in repository.paths if p.endswith((".cmake", "CMakeLists.txt"))]
    texts = {path: _COMMENT.sub(b"", repository.data(path)) for path in files}
    makers = _makers(texts.values()) if texts else _MAKERS
    lists = (path for path in files if path.endswith("CMakeLists.txt"))
    return [one for path in lists for one in _of_file(path, texts[path], makers)]


def _makers(texts: Iterable[bytes]) -> frozenset[bytes]:
    """The functions that make a module of their first argument: known ones, and those of the project that call one."""
    own = [match for text in texts for match in _OWN.finditer(text)]
    found = _MAKERS
    for _ in range(_MAX_WRAPPED):
        more = found | {m[1].lower() for m in own if _makes(m[3], m[2], found)}
        if more == found:
            break
        found = more
    return found


def _makes(body: bytes, first: bytes, makers: frozenset[bytes]) -> bool:
    """Whether the body of a function hands its first parameter on as the name of a module."""
    name = b"${" + first + b"}"
    return any(call[1].lower() in makers and call[2].split()[:1] == [name] for call in _CALL.finditer(body))


def _of_file(path: str, data: bytes, makers: frozenset[bytes]) -> Iterator[Module]:
    known: dict[str, list[str]] = {}
    for match in _CALL.finditer(data):
        given = match[2].decode("utf-8", "replace").replace('"', " ").split()
        called = match[1].lower()
        if called == b"set" and given:
            known[given[0]] = _resolved(given[1:], known)
        elif called in makers and given:
            first, *rest = _resolved(given, known) or [""]
            sources = tuple(one for one in rest if one.endswith(SOURCES))
            if re.fullmatch(r"\w+", first):
                yield Module(first, sources, path)


def _resolved(given: list[str], known: Mapping[str, list[str]]) -> list[str]:
    """Arguments with the variables that the file sets put in; a variable of which nothing is known stays."""
    found: list[str] = []
    for one in given:
        alone = _VARIABLE.fullmatch(one)
        if alone is not None and alone[1] in known:
            found += known[alone[1]]
        else:
            found.append(_VARIABLE.sub(lambda m: " ".join(known.get(m[1], [m[0]])), one))
    return found
