"""Members by which a class holds objects of others: ``impl_->forward(x)`` of ``std::unique_ptr<Impl> impl_``."""

from __future__ import annotations

import re

from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.torch.blocks import Block

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
        declared = re.compile(
            rb"\b" + re.escape(block.scope.encode()) + rb"\s*>?\s*[*&]?\s*" + re.escape(receiver[1]) + rb"\s*[;{=]"
        )
        known[key] = any(receiver[1] in data and declared.search(data) is not None for data in seen)
    return known[key]


def _asked(_: Repository, __: str) -> dict[tuple[str, bytes], bool]:
    """What was asked of a source before: the class and the member."""
    return {}
