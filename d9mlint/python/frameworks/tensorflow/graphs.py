"""Graphs of TensorFlow 1: which ops the value of another is computed from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.taint import NUMBERS, taint
from d9mlint.python.domain.values import OPERANDS, Dict, Obj, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, made_of, results

MERGED, _SUMMARY = "tensorflow.summary.merge_all", "tensorflow.summary."
_TENSOR = "tensorflow.Tensor"
VARIABLES = (
    "tensorflow.trainable_variables", "tensorflow.global_variables", "tensorflow.all_variables",
    "tensorflow.model_variables", "tensorflow.contrib.slim.get_trainable_variables",
    "tensorflow.contrib.slim.get_variables", "tensorflow.contrib.slim.get_model_variables",
)  # fmt: skip
"""Calls that give lists of variables of the graph."""
BATCHES = tuple(f"tensorflow.train.{name}" for name in ("batch", "batch_join", "shuffle_batch", "shuffle_batch_join"))
"""Calls that give a batch of each tensor of a list; of a single one a single one."""
UPDATE_OPS, COLLECTION = "tensorflow.GraphKeys.UPDATE_OPS", "tensorflow.get_collection"
_OTHERS = ("tensorflow.data.", "tensorflow.TensorShape", "tensorflow.Dimension")
"""Types of TensorFlow that are no tensors."""
_DEPTH = 8
_MOST_SOURCES = 16
_MOST = 5_000
"""Ops that one value is followed back through."""


def tensors(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """A list of tensors, of which nobody knows how many there are."""
    return Seq("list", None, Obj(_TENSOR, event))


def updates(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """The ops that layers leave to be run with the step: one stands for all; programs put their own beside them."""
    name = event.args[0] if event.args else None
    kept = isinstance(name, Ref) and name.name == UPDATE_OPS
    return Seq("list", [Obj("tensorflow.Operation", event)]) if kept else None


def computed(operands: Sequence[Value]) -> Value | None:
    """What an arithmetic operator gives where a tensor is among its operands: a tensor, computed from all of them."""
    tensors = [one for one in operands if isinstance(one, Obj) and _is_tensor(one)]
    if not tensors:
        return None
    first = next((one for one in tensors if one.event is not None), tensors[0])
    found, order, sources = taint(operands)
    others = (one.event for one in tensors if one is not first and one.event is not None)
    from_all = tuple(dict.fromkeys((*others, *sources)))[-_MOST_SOURCES:]
    made = Obj(_TENSOR, first.event, found - NUMBERS, order, from_all)
    beside: list[Value] = [one for one in operands if one is not first and isinstance(one, (Obj, Unknown))]
    if beside:
        made.attrs[OPERANDS] = Seq("tuple", beside)
    return made


def _is_tensor(value: Obj) -> bool:
    known = value.type.startswith("tensorflow.") and not value.type.startswith(_OTHERS)
    return known or value.type.endswith(".get_next()")


def origins(program: Program, *values: Value | None) -> dict[int, Event]:
    """The ops that values are computed from, by their ``id``; all summaries for one that merges them."""
    makers = results(program)
    todo = [made for value in values for made in made_in(value, makers)]
    found: dict[int, Event] = {}
    while todo and len(found) < _MOST:
        event = todo.pop()
        if id(event) in found:
            continue
        found[id(event)] = event
        given = (*event.args, *event.kwargs.values(), *((event.receiver,) if event.receiver is not None else ()))
        todo += [made for value in given for made in made_in(value, makers)]
        if event.name == MERGED:
            todo += [one for one in program.events[: event.index] if one.name.startswith(_SUMMARY)]
    return found


def made_in(value: Value | None, makers: Makers, depth: int = _DEPTH) -> Iterator[Event]:
    """The calls that made a value, or what is in it, and those of the other sides of sums."""
    for _, leaf in alternatives(value):
        if isinstance(leaf, (Seq, Dict)):
            inside = leaf.items.values() if isinstance(leaf, Dict) else (*(leaf.items or ()), leaf.element)
            for part in inside if depth else ():
                yield from made_in(part, makers, depth - 1)
            continue
        yield from made_of(leaf, makers)
        yield from taint([leaf])[2]
