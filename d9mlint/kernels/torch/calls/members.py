"""Members by which a class holds objects of others: ``impl_->forward(x)`` of ``std::unique_ptr<Impl> impl_``."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.torch.blocks import HEADERS, Block, Blocks

_RECEIVER = re.compile(rb"\b(\w+)\s*(?:->|\.)\s*(?:template\s+)?\Z")
_MAX_BEFORE = 100


def calls(repository: Repository, other: Block, block: Block, place: int) -> bool:
    """Whether the method at a place is called on a member that is declared as one of its class."""
    before = other.unit.data[max(0, place - _MAX_BEFORE) : place]
    receiver = _RECEIVER.search(before) if other.scope else None
    if receiver is None:
        return False
    return receiver[1] in repository.derived(_seen, f"{other.unit.path}\0{block.scope}")


def elsewhere(
    repository: Repository, block: Block, blocks: Callable[[str], Blocks]
) -> list[tuple[Block, tuple[int, ...]]]:
    """The blocks of sources that do not name the class of a method, and call it on a member that a header declares."""
    if not block.name.isidentifier() or block.name == block.scope:
        return []
    word, name = block.scope.encode(), block.name.encode()
    named = frozenset(repository.holding(word))
    headers = {path for path in named if path.endswith(HEADERS) and _declared(repository.data(path), word)}
    found = []
    for path in repository.holding(name) if headers else ():
        if path in named or headers.isdisjoint(repository.reachable(path)):
            continue
        for other in blocks(path).mentioning(name):
            places = tuple(place for place in other.words[name] if calls(repository, other, block, place))
            found += [(other, places)] if places else []
    return found


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
    declaration = re.compile(rb"\b" + re.escape(scope) + rb"(?=\s*>?\s*[*&]?\s*(\w+)\s*[;{=])")
    return frozenset(match[1] for match in declaration.finditer(data))
