"""Functions and libraries that a macro writes: ``MAKE(adam, float)`` that defines ``void adam_float(...) {...}``.

Also ``DISPATCH(CUDA, "ns_op", f)``, which stands for a ``TORCH_LIBRARY_IMPL(ns, CUDA, m) { m.impl("ns_op", f); }``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

import tree_sitter

from d9mlint.kernels.sites.macros import Macro, definitions, expansion, use_at
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Unit, parsed

_PASTING = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)\((?:[^\n\\]|\\\r?\n|\\.)*?##", re.MULTILINE)
_REGISTERING = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+(\w+)\((?:[^\n\\]|\\\r?\n|\\.)*?"
    rb"\b(?:TORCH_LIBRARY(?:_\w+)?|PYBIND11_MODULE|NB_MODULE)[ \t]*\(",
    re.MULTILINE,
)
_LIBRARIES = (b"TORCH_LIBRARY", b"TORCH_LIBRARY_IMPL", b"TORCH_LIBRARY_FRAGMENT", b"PYBIND11_MODULE", b"NB_MODULE")
_UNENDED = re.compile(rb"(\b[A-Z][A-Z0-9_]{3,}\((?:[^()]|\((?:[^()]|\([^()]*\)){0,40}\)){0,400}\))(?=\s*[}A-Za-z_])")
"""A macro that is a statement, without a semicolon: the grammar loses what follows."""
_MAX_USES = 400
_MAX_TEXT = 20_000


def registering(repository: Repository, _: str) -> Mapping[bytes, list[Macro]]:
    """The macros of a repository that stand for a library, or for a part of one, by their names."""
    found: dict[bytes, list[Macro]] = {}
    for path in sorted({path for word in _LIBRARIES for path in repository.holding(word)}):
        data = repository.data(path)
        for name in dict.fromkeys(_REGISTERING.findall(data)):
            found.setdefault(name, []).extend(m for m in definitions(path, data, name) if b"{" in m.body)
    return found


def units(unit: Unit, libraries: Mapping[bytes, list[Macro]]) -> Iterator[Unit]:
    """The uses of such macros outside of functions, each written out as a source of its own at the place of the use.

    ``libraries`` are the macros, of any source, that register.
    """
    names = dict.fromkeys(_PASTING.findall(unit.data)) if b"##" in unit.data else {}
    known: dict[bytes, list[Macro]] = defaultdict(list)
    known |= {name: list(macros) for name, macros in libraries.items() if name in unit.data}
    for name in names:
        known[name] += [m for m in definitions(unit.path, unit.data, name) if b"{" in m.body or b"(" in m.body]
    known = {name: macros for name, macros in known.items() if macros}
    if not known:
        return
    using = re.compile(rb"^[ \t]*(" + rb"|".join(map(re.escape, sorted(known))) + rb")\s*\(", re.MULTILINE)
    for count, match in enumerate(using.finditer(unit.data)):
        node = unit.root.descendant_for_byte_range(match.start(1), match.end(1))
        use = use_at(unit.data, match.start(1), known[match[1]])
        if node is None or use is None or count >= _MAX_USES or _above(node, "compound_statement"):
            continue
        text = _UNENDED.sub(rb"\1;", expansion(use[0], use[2], known))
        if b"{" not in text or len(text) > _MAX_TEXT:
            continue
        at = unit.span(match.start(1), match.end(1))
        head, tail = (b'extern "C" { ', b" }") if _above(node, "linkage_specification") else (b"", b"")
        yield parsed(unit.path, head + text + tail, (at.line, max(1, at.column - len(head))), unit.meaning, unit.hidden)


def _above(node: tree_sitter.Node, kind: str) -> bool:
    at: tree_sitter.Node | None = node
    while at is not None and at.type != kind:
        at = at.parent
    return at is not None
