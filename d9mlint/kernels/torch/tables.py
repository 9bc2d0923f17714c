"""Tables of kernels outside of functions: ``kernel_t instances[] = { kernel<2>, kernel<3> };``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.source.unit import Unit

_FILLED = re.compile(rb"=\s*(?:[\w:]{1,80}(?:\s*<[^<>;{}()]{0,200}>)?\s*)?(?=\{)")
_ENTRIES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ \t\r\n{}(),<>&:"
"""What an initialiser of names alone is made of, with template arguments or those of a macro."""
_DIRECTIVE = re.compile(rb"^[ \t]*#[^\n]*|//[^\n]*", re.MULTILINE)
_END = re.compile(rb";|//[^\n]*")
_MAX_TABLE = 20_000
_NAMED = re.compile(rb"(\w+)\s*(?:\[[^\[\]]*\]\s*){0,3}\Z")
_MAX_BEFORE = 160


class Table(NamedTuple):
    """The name of a table, and the bytes of its entries."""

    name: str
    start: int
    end: int


def tables(unit: Unit) -> Iterator[Table]:
    """The tables of a source; what functions hold is theirs."""
    data = unit.data
    for match in _FILLED.finditer(data) if b"__global__" in data or b"ernel" in data else ():
        ends = (m.start() for m in _END.finditer(data, match.end(), match.end() + _MAX_TABLE) if m[0] == b";")
        end = next(ends, -1)
        text = _DIRECTIVE.sub(b"", data[match.end() : end]).rstrip()
        if end < 0 or not text.endswith(b"}") or text.translate(None, _ENTRIES):
            continue
        named = _NAMED.search(data, max(0, match.start() - _MAX_BEFORE), match.start())
        node = unit.root.descendant_for_byte_range(match.end(), match.end() + 1)
        if named is not None and node is not None and unit.function(node) is None:
            yield Table(named[1].decode(), match.end(), end)
