"""What an op of PyTorch does with its arguments, as its schema tells: reads, overwrites, or only views them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..recorder import COLLECTIVE, EMPTY, ENTRY, OP, SKIP, VIEW

_EMPTY = frozenset(
    ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "empty_quantized")
)
_OVERWRITING = frozenset(
    (
        "copy_", "fill_", "zero_", "uniform_", "normal_", "random_", "bernoulli_", "log_normal_", "cauchy_",
        "exponential_", "geometric_",
    )
)  # fmt: skip
"""In-place ops that do not read what they write over."""
_OTHERS = ("profiler", "prim", "prims", "inductor", "higher_order", "debug_mode_ops")
_COLLECTIVES = ("c10d", "_c10d_functional", "_c10d_functional_autograd")
_WAITING = ("c10d", "_c10d", "fsdp", "symm_mem")
"""How the names of spaces begin whose ops wait for other processes."""


class Schema(NamedTuple):
    """What is asked about an op at each call."""

    name: str
    kind: str
    """``empty``: memory as it is; ``entry``: data that Python made; ``view``: no bytes are read or written;
    ``collective``: what comes of it is of other processes, and may come later."""
    random: bool
    written: frozenset[str]
    """Arguments that it writes to, by position (as text) and name."""
    unread: frozenset[str]
    """Of these, those whose old content it does not read."""
    positions: tuple[int, ...] = ()
    """Those that it writes to and that are given by position."""
    waits: bool = False
    """Whether it waits for other processes, so that it is not to be executed more often than there."""
    returned: bool = False
    """Whether what it writes to is its first argument alone, which it returns."""


def schema_of(func: Any) -> Schema:
    """The schema of an overload."""
    schema = func._schema
    space, _, base = schema.name.partition("::")
    written, unread, positions = set(), set(), []
    for position, one in enumerate(schema.arguments):
        if one.alias_info is not None and one.alias_info.is_write:
            names = {one.name, str(position)} if not one.kwarg_only else {one.name}
            written |= names
            positions += [] if one.kwarg_only else [position]
            if one.kwarg_only or (position == 0 and base in _OVERWRITING):
                unread |= names
    random = any(str(tag).endswith("nondeterministic_seeded") for tag in getattr(func, "tags", ()))
    name = "torch.ops." + str(func) if space != "aten" else str(func)
    kind = _kind(space, base, schema, bool(written))
    returned = positions == [0] and len(written) == 2 and len(schema.returns) == 1
    name = name[: -len(".default")] if name.endswith(".default") else name
    return Schema(name, kind, random, frozenset(written), frozenset(unread),
                  tuple(positions), space.startswith(_WAITING), returned)  # fmt: skip


def _kind(space: str, base: str, schema: Any, writes: bool) -> str:
    if space in _OTHERS:
        return SKIP
    if space in _COLLECTIVES:
        return COLLECTIVE
    if space != "aten":
        return OP
    if base in _EMPTY:
        return EMPTY
    if base in ("lift_fresh", "set_"):
        return ENTRY
    returns = list(schema.returns)
    aliases = [one.alias_info is not None and not one.alias_info.is_write for one in returns]
    return VIEW if returns and all(aliases) and not writes else OP
