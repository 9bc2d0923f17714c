"""Members by which a class holds objects of others: ``impl_->forward(x)`` of ``std::unique_ptr<Impl> impl_``."""

from __future__ import annotations

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
    known = repository.derived(_asked, other.unit.path)
    key = block.scope, receiver[1]
    if key not in known:
        seen = (repository.data(path) for path in sorted(repository.reachable(other.unit.path)))
        declared = _declared(block.scope, re.escape(receiver[1]))
        known[key] = any(receiver[1] in data and declared.search(data) is not None for data in seen)
    return known[key]


def elsewhere(
    repository: Repository, block: Block, blocks: Callable[[str], Blocks]
) -> list[tuple[Block, tuple[int, ...]]]:
    """The blocks of sources that do not name the class of a method, and call it on a member that a header declares."""
    if not block.name.isidentifier() or block.name == block.scope:
        return []
    word, name = block.scope.encode(), block.name.encode()
    named = frozenset(repository.holding(word))
    declared = _declared(block.scope, rb"\w+")
    headers = {path for path in named if path.endswith(HEADERS) and declared.search(repository.data(path))}
    found = []
    for path in repository.holding(name) if headers else ():
        if path in named or headers.isdisjoint(repository.reachable(path)):
            continue
        for other in blocks(path).mentioning(name):
            places = tuple(place for place in other.words[name] if calls(repository, other, block, place))
            found += [(other, places)] if places else []
    return found


def _declared(scope: str, member: bytes) -> re.Pattern[bytes]:
    """The declaration of a member of a class, or of a pointer to one."""
    return re.compile(rb"\b" + re.escape(scope.encode()) + rb"\s*>?\s*[*&]?\s*" + member + rb"\s*[;{=]")


def _asked(_: Repository, __: str) -> dict[tuple[str, bytes], bool]:
    """What was asked of a source before: the class and the member."""
    return {}
