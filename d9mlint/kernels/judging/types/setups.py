"""Variables that a macro declares: ``DAXPY_DATA_SETUP;`` stands for ``double* x = m_x; double* y = m_y;``."""

from __future__ import annotations

import re

import tree_sitter

from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.textual import code, defines
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_STATEMENT = re.compile(rb"(?:^|[;{}])\s*([A-Z][A-Z0-9_]{3,})\s*(?:\([^;{}]*\)\s*)?(?=;)", re.MULTILINE)
_KEYWORDS = frozenset((b"return", b"delete", b"goto", b"case", b"new", b"else", b"using", b"typename"))


def declared_by_macro(node: Node, name: str, unit: Unit, repository: Repository) -> str:
    """The type, as it is written, with which a macro that stands above in the function declares a name; else empty."""
    function = unit.function(node)
    if function is None or not name.isidentifier():
        return ""
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
