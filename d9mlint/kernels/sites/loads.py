"""Atomic loads in the condition of a loop: a thread waits until the cell holds what it waits for.

``while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != n) {}``, ``while (ref.load(cuda::memory_order_acquire) != n) {}``.
Other loads are left out: what becomes of their values is not followed.
"""

from __future__ import annotations

import tree_sitter

from d9mlint.kernels.sites.calls import Call
from d9mlint.kernels.sites.names import READS
from d9mlint.kernels.sites.sightings import Sighting
from d9mlint.kernels.source.unit import Unit

LOAD = "load"
"""The member of ``cuda::atomic`` and ``cuda::atomic_ref``."""
LOADS = frozenset((b"__atomic_load_n", b"__hip_atomic_load", b"__nv_atomic_load_n"))
"""GCC, "Built-in Functions for Memory Model Aware Atomic Operations"; clang, "HIP Support"; CUDA C++ (12.8)."""
_LOOPS = ("while_statement", "do_statement", "for_statement")
_MAX_LEVELS = 12


def of_load(call: Call, unit: Unit) -> Sighting | None:
    """A load on the device that ends a wait; None for others. Its function is no wrapper: it changes nothing."""
    if not call.arguments or call.function is None or not unit.on_device(call.node) or not waits(call.node):
        return None
    return Sighting(
        call.unit.location(call.node), call.name, READS, "device", "direct", call.unit, call.node, call.function,
        call.arguments,
    )  # fmt: skip


def waits(node: tree_sitter.Node) -> bool:
    """Whether an expression is in the condition of a loop."""
    at: tree_sitter.Node | None = node
    for _ in range(_MAX_LEVELS):
        inner, at = at, at.parent if at is not None else None
        if at is None or inner is None:
            return False
        if at.type in _LOOPS:
            condition = at.child_by_field_name("condition")
            return condition is not None and condition.id == inner.id
    return False
