"""Mentions that call nothing: of a function of the host on the device, of a class that a parameter only refers to."""

from __future__ import annotations

import re

from d9mlint.kernels.source.repository import KERNEL_SUFFIXES, PLAIN_SUFFIXES
from d9mlint.kernels.torch.blocks import Block

_REFERS = re.compile(rb"\s*(?:<[^<>;{}()]*(?:<[^<>;{}()]*>[^<>;{}()]*)*>)?\s*(?:const\b\s*)?[&*]+\s*(?:\w|[,)>])")
_MAX_AFTER = 300


def impossible(other: Block, block: Block, place: int) -> bool:
    """Whether the mention of a block at a place of another one cannot run it."""
    if block.scope and block.name == block.scope:
        end = place + len(block.scope)
        return _REFERS.match(other.unit.data, end, end + _MAX_AFTER) is not None
    return not block.scope and _of_host(block) and _on_device(other)


def _of_host(block: Block) -> bool:
    """Whether a function is certainly one of the host: without a qualifier, in a source of plain C++."""
    path = block.unit.path
    plain = path.endswith(PLAIN_SUFFIXES) and not path.endswith(KERNEL_SUFFIXES)
    return plain and block.function is not None and not block.function.qualifier


def _on_device(block: Block) -> bool:
    qualifier = block.function.qualifier if block.function is not None else ""
    return bool(qualifier) and "__host__" not in qualifier
