"""Trees that are joined by their least members: ``old = atomicMin(&label[high], low); high = old;`` until both are one.

Each turn goes on with what it found, so that in the end the root of a tree is the least of its members in any order
(Playne and Hawick, "A New Algorithm for Parallel Connected-Component Labelling on GPUs", 2018; Komura, "GPU-based
cluster-labeling algorithm without the use of conventional iteration", 2015).
"""

from __future__ import annotations

import re

from d9mlint.kernels.judging import around
from d9mlint.kernels.judging.operations import Operation
from d9mlint.kernels.judging.returned.uses import Use
from d9mlint.kernels.sites.atomics import Atomic

_LEAST = frozenset(("min", "max"))


def joins(atomic: Atomic, found: Operation, use: Use) -> bool:
    """Whether the old value of a minimum is only where the same loop goes on, as its next cell or its next operand."""
    node = atomic.node
    if not found.words or found.loop or not _LEAST.issuperset(found.words):
        return False
    if node is None or around.above(node, around.LOOPS) is None:
        return False
    given = {word for one in atomic.arguments for word in re.findall(r"\w+", atomic.unit.text(one))}
    if use.names.isdisjoint(given):
        return False
    if use.kind in ("index", "value"):
        return not use.into and use.text.strip("[ ]") in use.names
    return use.kind in ("ticket", "forwarded")
