"""Calls of a method that overrides one of a base class: ``pipeline.trace(...)`` of a ``Pipeline& pipeline``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.kernels.torch.blocks import Block

_CALLED = re.compile(rb"\s*\(")
_MEMBER = re.compile(rb"(?:\.|->)\s*\Z")
_NO_BASES = frozenset((b"public", b"private", b"protected", b"virtual", b"std", b"final"))


def bases(block: Block) -> frozenset[bytes]:
    """The classes whose method a method overrides, as far as the head of its class in the same file names them."""
    node = block.function.node if block.function is not None and block.scope else None
    body = node.child_by_field_name("body") if node is not None else None
    if body is None or b"override" not in block.unit.data[block.start : body.start_byte]:
        return frozenset()
    head = re.compile(rb"\b(?:class|struct)\s+" + re.escape(block.scope.encode()) + rb"\s*(?:final\s*)?:([^{;]*)\{")
    found = head.search(block.unit.data)
    listed = re.sub(rb"<[^<>]*>", b"", found[1]) if found is not None else b""
    return frozenset(re.findall(rb"\w+", listed)) - _NO_BASES


def calls(block: Block, named: frozenset[bytes], others: list[Block]) -> Iterator[tuple[Block, tuple[int, ...]]]:
    """The blocks that call the method of an object, and name one of the base classes, with the places."""
    word = block.name.encode()
    for other in others:
        if other is block or other.scope == block.scope or named.isdisjoint(other.words):
            continue
        data = other.unit.data
        places = tuple(
            at
            for at in other.words.get(word, ())
            if _CALLED.match(data, at + len(word)) and _MEMBER.search(data, max(0, at - 8), at)
        )
        if places:
            yield other, places
