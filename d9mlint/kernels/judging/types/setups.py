"""Variables that a macro declares: ``DAXPY_DATA_SETUP;`` stands for ``double* x = m_x; double* y = m_y;``.

Also one that is given their names and types: ``SHARED(worker, sum, Array<float, 8>);``.
"""

from __future__ import annotations

import re

import tree_sitter

from d9mlint.kernels.source.lexical import arguments
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.textual import Define, code, defines
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_STATEMENT = re.compile(rb"(?:^|[;{}])\s*([A-Z][A-Z0-9_]{3,})\s*(?:\([^;{}]*\)\s*)?(?=;)", re.MULTILINE)
_KEYWORDS = frozenset((b"return", b"delete", b"goto", b"case", b"new", b"else", b"using", b"typename"))


def declared_by_macro(node: Node, name: str, unit: Unit, repository: Repository) -> str:
    """The type, as it is written, with which a macro that stands above in the function declares a name; else empty."""
    function = unit.function(node)
    if function is None or not name.isidentifier():
        return ""
    given = _given(node, function.node, name.encode(), unit, repository)
    if given:
        return given
    word = re.escape(name.encode())
    declaration = re.compile(
        rb"(?:^|[;{}\\])\s*(?:const\s+)?((?:\w+\s*::\s*)*\w+(?:<[^<>;]*>)?(?:\s*[*&])*)\s*\b" + word + rb"\s*[=;\[{]"
    )
    for macro in dict.fromkeys(_STATEMENT.findall(unit.data, function.node.start_byte, node.start_byte)):
        for path in (p for p in repository.holding(macro) if p in repository.reachable(unit.path)):
            for define in repository.derived(defines, path).get(macro.decode(), ()):
                found = declaration.search(code(repository, path), define.start, define.end)
                if found is not None and found[1] not in _KEYWORDS:
                    return b" ".join(found[1].split()).decode("utf-8", "replace")
    return ""


def _given(node: Node, function: Node, name: bytes, unit: Unit, repository: Repository) -> str:
    """The type that a macro is given beside the name which it declares; empty where none is."""
    called = re.compile(
        rb"(?:^|[;{}])\s*([A-Z][A-Z0-9_]{3,})\s*\((?=[^;{}]*\b" + re.escape(name) + rb"\b)", re.MULTILINE
    )
    for match in called.finditer(unit.data, function.start_byte, node.start_byte):
        listed = arguments(unit.data, match.end() - 1)
        texts = [unit.data[a:b].strip() for a, b in listed[0]] if listed is not None else []
        if name not in texts:
            continue
        seen = repository.reachable(unit.path)
        for path in (p for p in repository.holding(match[1]) if p in seen):
            for define in repository.derived(defines, path).get(match[1].decode(), ()):
                found = _of_arguments(define, code(repository, path), texts, texts.index(name))
                if found:
                    return found
    return ""


def _of_arguments(define: Define, text: bytes, given: list[bytes], place: int) -> str:
    """The argument that is the type in ``type& name`` or in ``auto& name = make<..., type>(...)`` of a macro's body."""
    if place >= len(define.parameters) or define.parameters[place] == "...":
        return ""
    name = re.escape(define.parameters[place].encode())
    declared = re.compile(
        rb"(\w+)(?:\s*[&*])*\s+(?:[&*]\s*)?" + name + rb"\s*(?:[;\[{]|=\s*[\w:\s]+<([^;()]*)>\s*\(|=|\s*\Z)"
    )
    found = declared.search(text, define.start, define.end)
    words = [found[1]] if found is not None else []
    if found is not None and found[1] == b"auto":
        words = [word.strip() for word in (found[2] or b"").split(b",")]
    put = {p.encode(): given[at] for at, p in enumerate(define.parameters) if p != "..." and at < len(given)}
    if "..." in define.parameters:
        put[b"__VA_ARGS__"] = b", ".join(given[define.parameters.index("...") :])
    meant = next((put[word] for word in reversed(words) if word in put), b"")
    return " ".join(meant.decode("utf-8", "replace").split())
