"""Launch macros of a project's own that bind a type name for the code they are given, by their definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from d9mlint.kernels.judging.known import typelists
from d9mlint.kernels.source import lexical
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.textual import Define, code, defines
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node

_MAX_BACK = 30_000
_MAX_ENCLOSING = 8
_MAX_LEVELS = 4
_BRACKET = re.compile(rb"[()]")
_BEFORE = re.compile(rb"([A-Za-z_]\w*)\s*\Z")
_KERNELS = (".cu", ".cu.cc", ".cuh", ".cu.h", ".hip", ".cu.cpp", ".mu")
_SWITCH = re.compile(rb"\b\w*(?:SWITCH|DISPATCH)\w*\s*\(")
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
        named = [*_named(body, inside)]
        if not found and not named and level < _MAX_LEVELS:
            named = [*_passed(repository, body, inside, level)]
        found |= dict.fromkeys(_given(define, given, typed) for typed in named)
    return tuple(found) or (_by_name(macro) if level == 0 else ())


def _given(define: Define, given: tuple[str, ...], typed: str) -> str:
    """A type that a macro names; where that is a parameter of it, what the macro is given for it."""
    place = define.parameters.index(typed) if typed in define.parameters else -1
    return given[place] if 0 <= place < len(given) else typed


_LAUNCHERS = {"hipLaunchKernelGGL": 5, "cudaLaunchKernelEx": 2}
"""Where the arguments of the kernel begin (HIP and CUDA runtime references)."""


_HANDED_ON = re.compile(rb"\bhipLaunchKernelGGL\s*\(([^;]{0,300}?)__VA_ARGS__")


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
        named = sum(name != "..." for name in define.parameters)
        if b"<<<" in body and b"__VA_ARGS__" in body and define.parameters:
            return named
        before = _HANDED_ON.search(body)
        if before is not None:  # ``#define LAUNCH(...) hipLaunchKernelGGL(__VA_ARGS__)``
            return named + _LAUNCHERS["hipLaunchKernelGGL"] - before[1].count(b",")
    return None


def expansions(
    repository: Repository, macro: str, place: int, path: str, level: int = 0
) -> Iterator[tuple[str, int, int]]:
    """Where what a macro is given at a place is expanded, as ``M(float)``: file, its byte, and that of the parenthesis.

    The macro may hand it on to others: ``#define FOR_ALL(M) FOR_FLOATS(M); template M(int)``.
    """
    every = _definitions(repository, macro)
    seen = repository.reachable(path)
    for home, define in [one for one in every if one[0] in seen] or every:
        body = code(repository, home)[define.start : define.end]
        parameter = define.parameters[place].encode() if place < len(define.parameters) else b""
        for at in lexical.word_places(body, parameter) if parameter else ():
            opening = body.find(b"(", at)
            if opening >= 0 and not body[at + len(parameter) : opening].strip():
                yield home, define.start + at, define.start + opening
                continue
            name, parenthesis = next(enclosing(body, at), ("", 0))
            if name and name != macro and level < _MAX_LEVELS:
                yield from expansions(repository, name, body.count(b",", parenthesis, at), home, level + 1)


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


def kernel_sources(repository: Repository, _: str) -> tuple[str, ...]:
    """The CUDA and HIP sources among the files."""
    return tuple(p for p in repository.sources if p.endswith(_KERNELS))


def around(repository: Repository, name: str, node: Node, unit: Unit) -> tuple[str, ...]:
    """The types of the dispatch macro around a node, where that binds ``name``."""
    at: Node | None = node
    while at is not None and at.type != "function_definition":
        called = at.child_by_field_name("function") if at.type == "call_expression" else None
        if called is not None and typelists.is_dispatch(unit.text(called)):
            text = unit.text(at)
            head = text[: text.find("[") if "[" in text else 400]
            index = "INDEX" in unit.text(called)
            if index == name.startswith("index") and (name in ("scalar_t", "index_t", "data_t") or name in head):
                macro = unit.text(called)
                types = typelists.dispatched(macro, head) or _own_dispatch(repository, macro, unit)
                if types:
                    return types
        at = at.parent
    return _switched(repository, name, node, unit)


def _switches(repository: Repository, path: str) -> bool:
    """Whether a file uses macros whose names say that they choose among types."""
    data = repository.data(path)
    return (b"SWITCH" in data or b"DISPATCH" in data) and _SWITCH.search(data) is not None


def _switched(repository: Repository, name: str, node: Node, unit: Unit) -> tuple[str, ...]:
    """The types that a macro around a node binds to a name it is given: ``TYPE_SWITCH(t, DType, {...})``."""
    if not repository.derived(_switches, unit.path):
        return ()
    for macro, opening in enclosing(code(repository, unit.path), node.start_byte):
        listed = lexical.arguments(code(repository, unit.path), opening)
        given = [unit.data[a:b].decode("utf-8", "replace").strip() for a, b in listed[0]] if listed else []
        types = bound(repository, macro, tuple(given), name) if name in given else ()
        if types:
            return types
    return ()


def _own_dispatch(repository: Repository, macro: str, unit: Unit) -> tuple[str, ...]:
    """The types that a dispatch macro of the repository names in its body."""
    for path in (unit.path, *repository.derived(kernel_sources, "")):
        if b"#define" in repository.data(path) and macro.encode() in repository.data(path):
            for define in repository.derived(defines, path).get(macro, ()):
                body = code(repository, path)[define.start : define.end].decode("utf-8", "replace")
                return typelists.scalar_types(body) or typelists.dispatched(body, "")
    return ()
