"""A source as text: comments and strings blank, and its ``#define`` lines."""

from __future__ import annotations

import re
from typing import NamedTuple

from d9mlint.kernels.source.repository import Repository

_COMMENT = re.compile(rb'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\(([^()\n]*(?:\\\n[^()\n]*)*)\))?((?:[^\\\n]|\\(?:\r?\n|.))*)",
    re.M,
)


class Define(NamedTuple):
    """A macro definition; ``start`` and ``end`` are the bytes of its body."""

    name: str
    parameters: tuple[str, ...]
    start: int
    end: int


def code(repository: Repository, path: str) -> bytes:
    """The bytes of a source with comments and what strings hold blank, each at its place."""
    return repository.derived(_uncommented, path)


def _uncommented(repository: Repository, path: str) -> bytes:
    data = repository.data(path)
    return _COMMENT.sub(_blank, data)


def _blank(match: re.Match[bytes]) -> bytes:
    text = match[0]
    if text.startswith(b'"'):
        # Lines, and the marks that continue them, stay: what follows keeps its place.
        return b'"' + re.sub(rb"(?!\\\r?\n)[^\r\n]", b" ", text[1:-1]) + b'"'
    return re.sub(rb"[^\r\n\\]", b" ", text)


def defines(repository: Repository, path: str) -> dict[str, tuple[Define, ...]]:
    """The macros that a source defines, by name; one may be defined more than once."""
    found: dict[str, tuple[Define, ...]] = {}
    data = code(repository, path)
    for match in _DEFINE.finditer(data) if b"define" in data else ():
        listed = (match[2] or b"").replace(b"\\", b" ").decode("utf-8", "replace")
        parameters = tuple(p.strip() for p in listed.split(",") if p.strip())
        name = match[1].decode()
        found[name] = (*found.get(name, ()), Define(name, parameters, match.start(3), match.end(3)))
    return found


def define_at(repository: Repository, path: str, at: int) -> Define | None:
    """The definition whose body holds a byte."""
    for several in repository.derived(defines, path).values():
        for define in several:
            if define.start <= at < define.end:
                return define
    return None
