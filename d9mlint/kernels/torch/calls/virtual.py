"""Calls of a method that overrides one of a base class: ``pipeline.trace(...)`` of a ``Pipeline& pipeline``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.torch.blocks import Block
from d9mlint.kernels.torch.presence import binds_classes

_CALLED = re.compile(rb"\s*\(")
_MEMBER = re.compile(rb"(\w*)\s*(?:\.|->)\s*\Z")
"""The name of an object before its method."""
_VIRTUAL = re.compile(rb"\bvirtual\b[^;{}()]*?(\w+)\s*\(")
HEAD = re.compile(rb"\b(?:class|struct)\s+(\w+)\s*(?:final\s*)?:(?!:)([^{};()]*)\{")
"""The head of a class with bases: its name, and they."""
_NO_BASES = frozenset((b"public", b"private", b"protected", b"virtual", b"std", b"final"))


def bases(block: Block, repository: Repository) -> frozenset[bytes]:
    """The classes whose method a method overrides, as far as the head of its class tells, here or in an included file.

    One that is defined outside of its class cannot say ``override``: it does if the method of the base is virtual.
    """
    node = block.function.node if block.function is not None and block.scope else None
    body = node.child_by_field_name("body") if node is not None else None
    if body is None:
        return frozenset()
    own, listed = repository.derived(_head, f"{block.unit.path}\0{block.scope}")
    if own or not listed or not binds_classes(repository):
        said = own and b"override" in block.unit.data[block.start : body.start_byte]
        return listed if said else frozenset()
    name = block.name.encode()
    return frozenset(base for base in listed if name in repository.derived(_virtual, base.decode()))


def _head(repository: Repository, key: str) -> tuple[bool, frozenset[bytes]]:
    """Whether a source holds a class itself, not a file that it includes, and the bases that its head names."""
    path, _, scope = key.partition("\0")
    word = scope.encode()
    head = re.compile(rb"\b(?:class|struct)\s+" + re.escape(word) + rb"\s*(?:final\s*)?:([^{;]*)\{")
    for home in (path, *sorted(repository.reachable(path))):
        data = repository.data(home)
        found = head.search(data) if word in data else None
        if found is not None:
            return home == path, listed(found[1])
    return False, frozenset()


def _virtual(repository: Repository, name: str) -> frozenset[bytes]:
    """The virtual methods in the sources that name a class."""
    texts = (repository.data(path) for path in repository.holding(name.encode()))
    return frozenset(method for data in texts if b"virtual" in data for method in _VIRTUAL.findall(data))


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
