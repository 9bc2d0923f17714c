"""Coroutines of the program: which calls of them have ended before anything else goes on."""

from __future__ import annotations

from d9mlint.python.source import facts as f

RUNS = frozenset({"run", "run_until_complete"})
"""Methods that run a coroutine to its end: ``asyncio.run(work())``."""


def awaited(node: f.Expr) -> f.Expr:
    """An expression whose value is waited for; of a call that is worth a mark."""
    return node._replace(awaited=True) if isinstance(node, f.Call) else node
