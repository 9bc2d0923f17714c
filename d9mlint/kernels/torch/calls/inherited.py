"""Methods that are called in classes which inherit them: ``this->back(x)`` in a class of the base ``Conv<float>``."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.torch.blocks import Block, Blocks
from d9mlint.kernels.torch.calls.virtual import HEAD, listed

_THIS = re.compile(rb"\bthis\s*->\s*(?:template\s+)?\Z")
_OTHERS = re.compile(rb"(?:\.|->)\s*\Z")
_CALLED = re.compile(rb"\s*\(")
_BEFORE = 40
_MAX_LEVELS = 6


def heirs(repository: Repository, name: str) -> frozenset[bytes]:
    """The classes that inherit from one, also through others."""
    known = repository.derived(_inheriting, "")
    found: set[bytes] = set()
    fresh = {name.encode()}
    for _ in range(_MAX_LEVELS):
        fresh = {heir for base in fresh for heir in known.get(base, ())} - found
        found |= fresh
    return frozenset(found)


def _inheriting(repository: Repository, _: str) -> Mapping[bytes, set[bytes]]:
    """By each base class, the classes whose heads name it."""
    found: defaultdict[bytes, set[bytes]] = defaultdict(set)
    for path in repository.sources:
        data = repository.data(path)
        for match in HEAD.finditer(data) if b"class" in data or b"struct" in data else ():
            for base in listed(match[2]):
                found[base].add(match[1])
    return found


def calls(
    block: Block, classes: frozenset[bytes], others: list[Block], blocks: Callable[[str], Blocks]
) -> Iterator[tuple[Block, tuple[int, ...]]]:
    """The methods of some classes that call an inherited one on their own object, with the places.

    A class that has a method of that name itself means that. ``blocks`` gives those of a source.
    """
    word = block.name.encode()
    for other in others:
        scope = other.scope.encode()
        if scope in classes and block.name not in blocks(other.unit.path).defined.get(scope, ()):
            places = tuple(at for at in other.words.get(word, ()) if _on_itself(other.unit.data, at, len(word)))
            if places:
                yield other, places


def _on_itself(data: bytes, at: int, width: int) -> bool:
    before = data[max(0, at - _BEFORE) : at]
    own = _THIS.search(before) is not None or _OTHERS.search(before) is None
    return own and _CALLED.match(data, at + width) is not None
