"""What a call of JAX shows about the indices that it adds up at: whether one surely repeats, or surely does not."""

from __future__ import annotations

from collections.abc import Callable

from d9mlint.model import Argument, Op
from d9mlint.python.domain.conditions import Cond
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Seq, Value, alternatives
from d9mlint.python.frameworks.indices import INDEXED, unique
from d9mlint.python.frameworks.jax.calls import UPDATE
from d9mlint.python.frameworks.jax.mode import on_gpu
from d9mlint.python.frameworks.opuses import OpUses
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers

_SEGMENTS = ("jax.ops.", "jraph.")
_LAYERS = ("flax.", "haiku.", "equinox.", "keras.")
_UPDATES = Argument(0, "values")


class JaxOps(OpUses):
    """Those of JAX, and of layers on it."""

    shows_nothing = True  # an index that is not known may be one number

    def on_gpu(self, program: Program) -> Cond:
        return on_gpu(program)

    def harmless(self, program: Program, event: Event, op: Op, makers: Makers) -> bool:
        return exact(event, lambda value: unique(value, makers))

    def likely(self, event: Event, op: Op, makers: Makers) -> bool:
        return not INDEXED.search(op.name) or sure(event)

    def sure(self, event: Event, op: Op, makers: Makers) -> bool:
        return sure(event)


def exact(event: Event, unique: Callable[[Value], bool]) -> bool:
    """Whether nothing is added in an order that matters: every index once, or the same number again and again."""
    if _true(event.kwargs.get("unique_indices")):
        return True
    value = event.argument(_UPDATES)
    if event.name.startswith(f"{UPDATE}.") and isinstance(value, Const):
        return True  # x + c + c: in whatever order, the same steps
    indices = _indices(event)
    return indices is not None and all(_once(leaf, unique) for _, leaf in alternatives(indices))


def sure(event: Event) -> bool:
    """Whether the call itself shows that indices repeat, or nearly always do: tokens, segments, an array of indices."""
    if event.name.startswith((*_SEGMENTS, *_LAYERS, "jax.numpy.histogram", "jax.numpy.bincount")):
        return True
    indices = _indices(event)
    if indices is None:
        return False
    parts = indices.items or () if isinstance(indices, Seq) else (indices,)
    return any(isinstance(part, Obj) and part.type in ("jax.Array", "numpy.ndarray") for part in parts)


def _indices(event: Event) -> Value | None:
    for _, leaf in alternatives(event.receiver):
        if isinstance(leaf, Obj) and leaf.type == UPDATE:
            return leaf.attrs.get("indices")
    return None


def _once(indices: Value, unique: Callable[[Value], bool]) -> bool:
    """Constants and bounds of slices meet every place once, so does a range."""
    if isinstance(indices, Seq):
        return (
            indices.items is not None
            and all(isinstance(part, Const) for part in indices.items)
            and (indices.kind == "tuple" or unique(indices))
        )
    return isinstance(indices, Const) or unique(indices)


def _true(value: Value | None) -> bool:
    return isinstance(value, Const) and value.value is True
