"""Launch macros of a project's own that bind a type name for the code they are given, by their definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.kernels.judging.known import typelists
from d9mlint.kernels.source import lexical
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.textual import Define, code, defines

_MAX_BACK = 30_000
_MAX_ENCLOSING = 8
_MAX_LEVELS = 4
_BRACKET = re.compile(rb"[()]")
_BEFORE = re.compile(rb"([A-Za-z_]\w*)\s*\Z")
_INDEX = re.compile(r"(?:^|_)(?:ID|IDX|INDEX|INT|INTEGER|INTEGRAL)(?:_|$)|IdType|IType")


def enclosing(data: bytes, at: int) -> Iterator[tuple[str, int]]:
    """The names before the parentheses that are open at a byte, and their places, the innermost first."""
    depth = found = 0
    first = max(0, at - _MAX_BACK)
    for match in reversed(list(_BRACKET.finditer(data, first, at))):
        depth += 1 if match[0] == b")" else -1
        if depth < 0:
            depth = 0
            name = _BEFORE.search(data, max(0, match.start() - 200), match.start())
            if name is not None:
                yield name[1].decode("ascii", "replace"), match.start()
            found += 1
            if found >= _MAX_ENCLOSING:
                return


def bound(repository: Repository, macro: str, given: tuple[str, ...], name: str, level: int = 0) -> tuple[str, ...]:
    """The types that ``macro(given)`` makes ``name`` stand for; empty where its definition does not show them."""
    found: dict[str, None] = {}
    for path, define in _definitions(repository, macro):
        place = given.index(name) if name in given else -1
        inside = define.parameters[place] if 0 <= place < len(define.parameters) else name
        body = code(repository, path)[define.start : define.end]
        found |= dict.fromkeys(_named(body, inside))
        if not found and level < _MAX_LEVELS:
            found |= dict.fromkeys(_passed(repository, body, inside, level))
    return tuple(found) or (_by_name(macro) if level == 0 else ())


_LAUNCHERS = {"hipLaunchKernelGGL": 5, "cudaLaunchKernelEx": 2}
"""Where the arguments of the kernel begin (HIP and CUDA runtime references)."""


def launching(repository: Repository, macro: str, path: str) -> int | None:
    """Which argument of a macro that launches a kernel in a file is the kernel's first; None for other macros.

    Such a macro holds ``<<<`` and hands on what stands for its ``...``.
    """
    if macro in _LAUNCHERS:
        return _LAUNCHERS[macro]
    every = _definitions(repository, macro)
    seen = repository.reachable(path)
    for home, define in [one for one in every if one[0] in seen] or every:
        body = repository.data(home)[define.start : define.end]
        if b"<<<" in body and b"__VA_ARGS__" in body and define.parameters:
            return sum(name != "..." for name in define.parameters)
    return None


def _definitions(repository: Repository, macro: str) -> list[tuple[str, Define]]:
    return list(repository.derived(_defined, macro))


def _defined(repository: Repository, macro: str) -> tuple[tuple[str, Define], ...]:
    word = macro.encode()
    pattern = re.compile(rb"#[ \t]*define[ \t]+" + re.escape(word) + rb"\b")
    paths = [path for path in repository.sources if word in repository.data(path)]
    return tuple(
        (path, define)
        for path in paths
        if pattern.search(repository.data(path)) is not None
        for define in repository.derived(defines, path).get(macro, ())
    )


def _named(body: bytes, name: str) -> Iterator[str]:
    """The types that a body declares a name as: ``typedef float DType;``, ``using DType = float;``."""
    word = re.escape(name.encode())
    pattern = rb"\busing\s+" + word + rb"\s*=\s*([\w:\s]+?)\s*;|\btypedef\s+([\w:\s]+?)\s+" + word + rb"\s*;"
    for match in re.finditer(pattern, body):
        yield " ".join((match[1] or match[2]).decode("utf-8", "replace").split())


def _passed(repository: Repository, body: bytes, name: str, level: int) -> Iterator[str]:
    """The types that the macros in a body bind a name to, which they are given."""
    for at in lexical.word_places(body, name.encode()):
        for macro, opening in enclosing(body, at):
            listed = lexical.arguments(body, opening)
            given = tuple(body[a:b].replace(b"\\", b" ").decode("utf-8", "replace").strip() for a, b in listed[0]) if (
                listed is not None) else ()  # fmt: skip
            if name in given:
                yield from bound(repository, macro, given, name, level + 1)
                break


def _by_name(macro: str) -> tuple[str, ...]:
    """What a macro's name says where its definition is not in these sources: types of indices, or real ones."""
    if not re.search(r"SWITCH|DISPATCH", macro):
        return ()
    if _INDEX.search(macro):
        return ("int32_t", "int64_t")
    if re.search(r"REAL|FLOAT|SGL_DBL", macro):
        return ("float", "double", "half")
    return typelists.dispatched(macro, "")
