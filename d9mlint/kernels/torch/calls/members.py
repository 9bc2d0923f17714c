"""Members by which a class holds objects of others: ``impl_->forward(x)`` of ``std::unique_ptr<Impl> impl_``."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.torch.blocks import HEADERS, Block, Blocks

_RECEIVER = re.compile(rb"\b(\w+)\s*(?:\[[^\[\]\n]*\]\s*){0,3}(?:->|\.)\s*(?:template\s+)?\Z")
_APPLIED = re.compile(rb"\s*(?:\[[^\[\]\n]*\]\s*)?\(")
_MAX_BEFORE = 100


def calls(repository: Repository, other: Block, scope: str, place: int) -> bool:
    """Whether the method at a place is called on a member that is declared as one of a class, or as many of them."""
    before = other.unit.data[max(0, place - _MAX_BEFORE) : place]
    receiver = _RECEIVER.search(before) if other.scope else None
    if receiver is None:
        return False
    return receiver[1] in repository.derived(_seen, f"{other.unit.path}\0{scope}")


def elsewhere(
    repository: Repository, block: Block, scope: str, blocks: Callable[[str], Blocks]
) -> list[tuple[Block, tuple[int, ...]]]:
    """The blocks of sources that do not name a class, and call a method on a member that a header declares with it.

    The class is that of the method, or a base of it.
    """
    functor = block.name == "operator()"
    if block.name == block.scope or not (functor or block.name.isidentifier()):
        return []
    word, name = scope.encode(), block.name.encode()
    named = frozenset(repository.holding(word))
    declared = {path: _declared(repository.data(path), word) for path in named if path.endswith(HEADERS)}
    headers = {path for path, members in declared.items() if members}
    words = frozenset().union(*declared.values()) if functor else {name}
    own = named if scope == block.scope else frozenset()
    found = []
    for path in sorted({path for one in words for path in repository.holding(one)} - own) if headers else ():
        if headers.isdisjoint(repository.reachable(path)):
            continue
        for other in blocks(path).mentioning(*words):
            at = [(one, place) for one in sorted(words) for place in other.words.get(one, ())]
            meant = _applies if functor else _calls
            places = tuple(sorted(place for one, place in at if meant(repository, other, scope, one, place)))
            found += [(other, places)] if places else []
    return found


def _calls(repository: Repository, other: Block, scope: str, _: bytes, place: int) -> bool:
    return calls(repository, other, scope, place)


def _applies(repository: Repository, other: Block, scope: str, member: bytes, place: int) -> bool:
    """Whether a member that is an object of a class is called at a place, not only made: ``count_(keys)``."""
    body = other.function.node.child_by_field_name("body") if other.function is not None and other.scope else None
    if body is None or place < body.start_byte:
        return False
    called = _APPLIED.match(other.unit.data, place + len(member)) is not None
    return called and member in repository.derived(_seen, f"{other.unit.path}\0{scope}")


def _seen(repository: Repository, key: str) -> frozenset[bytes]:
    """The members of a class that a source or what it includes declares."""
    path, _, scope = key.partition("\0")
    texts = (repository.data(one) for one in repository.reachable(path))
    return frozenset().union(*(_declared(data, scope.encode()) for data in texts))


@functools.lru_cache(maxsize=1024)
def _declared(data: bytes, scope: bytes) -> frozenset[bytes]:
    """The members that a source declares as objects of a class, or as pointers to one; many include one header."""
    if scope not in data:
        return frozenset()
    declaration = re.compile(rb"\b" + re.escape(scope) + rb"(?=[\s>]*[*&]?\s*(\w+)\s*[;{=])")
    return frozenset(match[1] for match in declaration.finditer(data))
