"""Ops of TensorFlow graphs that work on what the program is fed alone: no gradient is asked for there."""

from __future__ import annotations

import re

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.tensorflow.sessionruns import inside, is_variable
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, results

_FED = re.compile(
    r"tensorflow\.(placeholder(_with_default)?|constant|(io\.)?read_file|(io\.)?decode_\w+|image\.decode_\w+|"
    r"train\.((maybe_)?(shuffle_)?batch(_join)?|slice_input_producer|string_input_producer)|"
    r"(io\.)?parse_(single_)?example|data\.\w*Iterator(\(\))?\.get_next)"
)
"""Calls that give what the program is fed, or what it reads."""
_GRADIENTS, _SOUGHT = "tensorflow.gradients", Argument(1, "xs")
_ASKS = (_GRADIENTS, "tensorflow.GradientTape.watch")
"""Calls by which a program may ask for gradients of what it is fed: for examples that mislead, pictures of dreams."""
_HANDS_ON = re.compile(
    r"tensorflow\.(image\.\w+|cast|to_(float|int32|int64)|reshape|expand_dims|squeeze|transpose|identity|gather(_nd)?|"
    r"boolean_mask|concat|stack|unstack|split|slice|strided_slice|pad|tile|one_hot|clip_by_value|stop_gradient|"
    r"sparse_to_dense|sparse_tensor_to_dense|sequence_mask|reverse(_sequence|_v2)?|nn\.conv[123]d)"
)
"""Ops without weights of their own; the filter of a convolution may be a constant."""
_RESIZES = "tensorflow.image.resize"
_TENSORS = ("tensorflow.", "keras.", "tf_slim.")


def on_inputs(program: Program) -> frozenset[int]:
    """The ``id`` of each call that hands on what is fed, and nothing that is computed from weights."""
    return program.once("ops-on-inputs", _on_inputs)


def _on_inputs(program: Program) -> frozenset[int]:
    makers = results(program)
    if any(not _of_variables(event, makers) for event in program.calls(*_ASKS)):
        return frozenset()
    found: set[int] = set()
    for event in program.events:
        handed = event.kind == "call" and _HANDS_ON.fullmatch(event.name) and _of(event, found)
        if handed or (event.kind == "call" and _FED.fullmatch(event.name)):
            found.add(id(event))
    return frozenset(found)


def _of_variables(event: Event, makers: Makers) -> bool:
    """Whether gradients are asked for of variables alone."""
    sought = event.argument(_SOUGHT) if event.name == _GRADIENTS else None
    of = [one for one in inside(sought) if not isinstance(one, Seq)] if sought is not None else []
    return bool(of) and all(is_variable(one, makers) for one in of)


def _of(event: Event, found: set[int]) -> bool:
    """Whether a call is given what is fed first, and no other tensors but such; sizes are whole numbers."""
    given = [*event.args, *event.kwargs.values()]
    if not given or not all(_is_fed(leaf, found) for leaf in _leaves(given[0])):
        return False
    if event.name.startswith(_RESIZES):
        return True
    return all(_is_fed(leaf, found) or not _is_tensor(leaf) for value in given[1:] for leaf in _leaves(value))


def _leaves(value: Value) -> list[Value]:
    leaves = [leaf for _, leaf in alternatives(value)]
    return [
        one for leaf in leaves for one in (leaf.items if isinstance(leaf, Seq) and leaf.items is not None else [leaf])
    ]


def _is_fed(leaf: Value, found: set[int]) -> bool:
    """Whether a value is what such a call has given, or one of several, and no sum of it and something else."""
    if not isinstance(leaf, Obj) or leaf.event is None or id(leaf.event) not in found:
        return False
    given = leaf.event.result
    return given is leaf or (isinstance(given, Seq) and given.element is leaf)


def _is_tensor(leaf: Value) -> bool:
    """Whether a value may be a tensor, as far as is told."""
    if isinstance(leaf, Obj):
        return leaf.type.startswith(_TENSORS)
    return not isinstance(leaf, (Const, Ref, Unknown, Seq))
