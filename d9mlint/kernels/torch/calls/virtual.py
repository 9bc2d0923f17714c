"""Calls of a method that overrides one of a base class: ``pipeline.trace(...)`` of a ``Pipeline& pipeline``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.torch.blocks import Block, in_class
from d9mlint.kernels.torch.presence import binds_classes

_CALLED = re.compile(rb"\s*\(")
_MEMBER = re.compile(rb"(\w*)\s*(?:\.|->)\s*\Z")
"""The name of an object before its method."""
_VIRTUAL = re.compile(rb"\bvirtual\b[^;{}()]*?(\w+)\s*\(")
_CLASS = rb"\b(?:class|struct)\s+(?:[A-Z][A-Z0-9_]*\s+)?"
"""Before the name of a class, with a macro that exports it (``class LIB_EXPORT Name``)."""
HEAD = re.compile(_CLASS + rb"(\w+)\s*(?:final\s*)?:(?!:)([^{};()]*)\{")
"""The head of a class with bases: its name, and they."""
_MAX_BASES = 20
_NO_BASES = frozenset((b"public", b"private", b"protected", b"virtual", b"std", b"final"))


def bases(block: Block, repository: Repository) -> frozenset[bytes]:
    """The classes whose method a method overrides, as far as the head of its class tells, here or in an included file.

    One that is defined outside of its class cannot say ``override``: it does if the method of the base is virtual.
    """
    node = block.function.node if block.function is not None and block.scope else None
    body = node.child_by_field_name("body") if node is not None else None
    if node is None or body is None or block.name.lstrip("~") == block.scope:
        return frozenset()
    listed = repository.derived(_head, f"{block.unit.path}\0{block.scope}")
    inside = in_class(node)
    if inside or not listed or not binds_classes(repository):
        said = inside and b"override" in block.unit.data[block.start : body.start_byte]
        return listed if said else frozenset()
    name = block.name.encode()
    return frozenset(base for base in listed if name in repository.derived(_virtual, base.decode()))


def _head(repository: Repository, key: str) -> frozenset[bytes]:
    """The bases that the head of a class names, which a source holds itself or in a file that it includes."""
    path, _, scope = key.partition("\0")
    word = scope.encode()
    head = _heads(word)
    for home in (path, *sorted(repository.reachable(path))):
        data = repository.data(home)
        found = head.search(data) if word in data else None
        if found is not None:
            return listed(found[1])
    return frozenset()


def _virtual(repository: Repository, name: str) -> frozenset[bytes]:
    """The virtual methods in the sources that name a class, or one of those that it is derived from."""
    found: set[bytes] = set()
    pending, seen = {name.encode()}, {name.encode()}
    while pending and len(seen) < _MAX_BASES:
        word = pending.pop()
        for data in (repository.data(path) for path in repository.holding(word)):
            found.update(_VIRTUAL.findall(data) if b"virtual" in data else ())
            fresh = {base for match in _heads(word).finditer(data) for base in listed(match[1])} - seen
            pending |= fresh
            seen |= fresh
    return frozenset(found)


def _heads(word: bytes) -> re.Pattern[bytes]:
    """The head of a class of that name, or of a specialisation of a template: its bases."""
    return re.compile(_CLASS + re.escape(word) + rb"\s*(?:<[^<>{};]*>\s*)?(?:final\s*)?:(?!:)([^{};()]*)\{")


def listed(written: bytes) -> frozenset[bytes]:
    """The classes in the head of one, without the namespaces before them."""
    return frozenset(re.findall(rb"\w+\b(?!\s*::)", re.sub(rb"<[^<>]*>", b"", written))) - _NO_BASES


def calls(block: Block, named: frozenset[bytes], others: list[Block]) -> Iterator[tuple[Block, tuple[int, ...]]]:
    """The blocks that call the method of an object of one of the base classes, with the places.

    They name the class, or call it on what the source declares with it, as a member of their own class.
    """
    word = block.name.encode()
    for other in others:
        if other is block or other.scope == block.scope:
            continue
        places = tuple(at for at in other.words.get(word, ()) if _calls(other, at, len(word), named))
        if places:
            yield other, places


def _calls(other: Block, at: int, width: int, named: frozenset[bytes]) -> bool:
    data = other.unit.data
    found = _MEMBER.search(data, max(0, at - 80), at) if _CALLED.match(data, at + width) else None
    if found is None:
        return False
    return not named.isdisjoint(other.words) or (other.scope != "" and _declared(found[1], named, data))


def _declared(name: bytes, classes: frozenset[bytes], data: bytes) -> bool:
    """Whether a source declares a name with one of some classes: ``std::unique_ptr<Base> name;``."""
    if not name:
        return False
    typed = rb"\b(?:" + b"|".join(sorted(map(re.escape, classes))) + rb")\b[^;(){}\n]*[\s*&>]" + name + rb"\s*[;={]"
    return re.search(typed, data) is not None
