"""Ops of TensorFlow graphs that work on what the program is fed alone: no gradient is asked for there."""

from __future__ import annotations

import re

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.interpreter.program import Program

_FED = ("tensorflow.placeholder", "tensorflow.placeholder_with_default", "tensorflow.constant")
_ASKS = ("tensorflow.gradients", "tensorflow.GradientTape.watch")
"""Calls by which a program may ask for gradients of what it is fed: for examples that mislead, pictures of dreams."""
_HANDS_ON = re.compile(
    r"tensorflow\.(image\.\w+|cast|to_(float|int32|int64)|reshape|expand_dims|squeeze|transpose|identity|gather(_nd)?|"
    r"boolean_mask|concat|stack|unstack|split|slice|strided_slice|pad|tile|one_hot|clip_by_value|stop_gradient|"
    r"sparse_to_dense|sparse_tensor_to_dense|sequence_mask|reverse(_sequence|_v2)?)"
)
"""Ops without weights of their own."""
_TENSORS = ("tensorflow.", "keras.", "tf_slim.")


def on_inputs(program: Program) -> frozenset[int]:
    """The ``id`` of each call that hands on what is fed, and nothing that is computed from weights."""
    return program.once("ops-on-inputs", _on_inputs)


def _on_inputs(program: Program) -> frozenset[int]:
    if any(True for _ in program.calls(*_ASKS)):
        return frozenset()
    found: set[int] = set()
    for event in program.events:
        if event.kind == "call" and (event.name in _FED or (_HANDS_ON.fullmatch(event.name) and _of(event, found))):
            found.add(id(event))
    return frozenset(found)


def _of(event: Event, found: set[int]) -> bool:
    """Whether a call is given what is fed first, and no other tensors but such."""
    given = [*event.args, *event.kwargs.values()]
    if not given or not all(_is_fed(leaf, found) for leaf in _leaves(given[0])):
        return False
    return all(_is_fed(leaf, found) or not _is_tensor(leaf) for value in given[1:] for leaf in _leaves(value))


def _leaves(value: Value) -> list[Value]:
    leaves = [leaf for _, leaf in alternatives(value)]
    return [
        one for leaf in leaves for one in (leaf.items if isinstance(leaf, Seq) and leaf.items is not None else [leaf])
    ]


def _is_fed(leaf: Value, found: set[int]) -> bool:
    """Whether a value is what such a call has given, and no sum or product of it and something else."""
    return isinstance(leaf, Obj) and leaf.event is not None and leaf is leaf.event.result and id(leaf.event) in found


def _is_tensor(leaf: Value) -> bool:
    """Whether a value may be a tensor, as far as is told."""
    if isinstance(leaf, Obj):
        return leaf.type.startswith(_TENSORS)
    return not isinstance(leaf, (Const, Ref, Unknown, Seq))
