"""Whether the indices of an op can repeat: only what meets at one place is added up in an order that varies."""

from __future__ import annotations

import re

from d9mlint.model import Argument, Op
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import OPERANDS, Const, Obj, Phi, Ref, Seq, Value
from d9mlint.python.interpreter.provenance import Makers

INDEXED = re.compile(r"gather|take")
"""Ops whose gradient matters only where the indexed data depend on weights."""
_PLACES = ("tensorflow.where", "tensorflow.where_v2")
_RANGES = (
    "tensorflow.range", "numpy.arange", "builtins.range", "tensorflow.argsort", "numpy.argsort",
    "jax.numpy.arange", "jax.numpy.argsort", "jax.random.permutation", "jax.lax.iota",
)  # fmt: skip
_CHOOSES = "tensorflow.boolean_mask"
_JOINS = ("tensorflow.stack", "tensorflow.concat", "tensorflow.concat_v2")
_SPARSE_INDICES = ("SparseTensor.indices", "SparseTensor().indices")
_RESHAPES_ONE = re.compile(r"\.(reshape|squeeze|expand_dims)\(\)$")
_INDICES = (
    (re.compile("tensor_scatter"), Argument(1, "indices")), (re.compile("scatter_nd"), Argument(0, "indices")),
    (re.compile(r"scatter_(?:update|add|sub|mul|div|min|max)$"), Argument(1, "indices")),
    (re.compile("gather"), Argument(1, "indices")), (re.compile("embedding_lookup"), Argument(1, "ids")),
)  # fmt: skip
"""Where an op takes its indices; equal ones are added up, in the op or in its gradient."""
_RESHAPE, _SHAPE = "tensorflow.reshape", Argument(1, "shape")
_CASTS = re.compile(r"\.(cast|to_int32|to_int64|identity)\(\)$")


def meets_each_index_once(event: Event, op: Op, makers: Makers) -> bool:
    """Whether the indices surely do not repeat, so that nothing is added up."""
    for words, wanted in _INDICES:
        if words.search(op.name):
            value = event.argument(wanted)
            if "update" in op.name and isinstance(value, Ref) and value.name.endswith(".indices"):
                return True  # of a SparseTensor; those of IndexedSlices are for adding up
            return value is not None and (unique(value, makers) or _unique_rows(value, makers, op.name))
    return False


def _unique_rows(indices: Value, makers: Makers, op: str) -> bool:
    """Whether indices of several dimensions have a column that does not repeat: ``stack([range(n), actions], 1)``.

    Or they are written row by row: a single one (``[[rank]]``), or different ones.
    """
    if isinstance(indices, Seq) and indices.items is not None and "_nd" in op:
        rows = [row.items for row in indices.items if isinstance(row, Seq) and row.items is not None]
        if len(rows) != len(indices.items) or any(isinstance(one, Seq) for row in rows for one in row):
            return False
        known = [repr([one.value for one in row if isinstance(one, Const)]) for row in rows]
        return len(rows) == 1 or (len(set(known)) == len(rows) and all(isinstance(o, Const) for r in rows for o in r))
    made = indices.event if isinstance(indices, Obj) else makers.get(id(indices))
    if made is None or not op.endswith("_nd") or made.name not in _JOINS:
        return False
    axis = made.argument(Argument(1, "axis"))
    columns = made.argument(Argument(0, "values"))
    across = isinstance(axis, Const) and axis.value in (1, -1)
    if not across or not isinstance(columns, Seq) or columns.items is None:
        return False
    return any(not isinstance(column, Const) and unique(column, makers) for column in columns.items)


def of_neighbours(indices: Value | None) -> bool:
    """Whether the offset of its batch is added to several indices for each item: points share their neighbours.

    ``offsets = tf.reshape(tf.range(n) * points, [n, 1, 1])``, then ``nearest + offsets``.
    """
    made = indices.event if isinstance(indices, Obj) and OPERANDS in indices.attrs else None
    shape = made.argument(_SHAPE) if made is not None and made.name == _RESHAPE else None
    ends = shape.items[1:] if isinstance(shape, Seq) and shape.items is not None else ()
    return len(ends) > 1 and all(isinstance(one, Const) and one.value == 1 for one in ends)


def unique(indices: Value, makers: Makers, depth: int = 4) -> bool:
    """Whether indices surely do not repeat: one number, a range, different ones, or the places where a mask holds."""
    if isinstance(indices, Phi):
        return all(unique(leaf, makers, depth) for _, leaf in indices.alternatives)
    if isinstance(indices, Const):
        return isinstance(indices.value, int)
    if isinstance(indices, Seq) and indices.items is not None:
        known = [item.value for item in indices.items if isinstance(item, Const)]
        return len(known) == len(indices.items) and len(set(map(repr, known))) == len(known)
    if isinstance(indices, Ref) and indices.name.endswith(_SPARSE_INDICES):
        return True
    made = indices.event if isinstance(indices, Obj) else makers.get(id(indices))
    if made is None or of_neighbours(indices):
        return False
    if made.name in _PLACES:
        return len(made.args) + len(made.kwargs.keys() - {"name"}) == 1
    if made.name in _RANGES:
        return True
    kept = made.name == _CHOOSES or _CASTS.search(f"{made.name}()") or _RESHAPES_ONE.search(f"{made.name}()")
    return bool(depth and made.args and kept and unique(made.args[0], makers, depth - 1))
