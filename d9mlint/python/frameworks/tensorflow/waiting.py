"""Which ops of a TF1 graph wait for which others, by ``tf.control_dependencies``."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Dict, Ref, Seq, Value, alternatives
from d9mlint.python.frameworks.tensorflow.graphs import COLLECTION, UPDATE_OPS, made_in, origins
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, results

_ORDERED = "control-dependencies"
"""The context of ops that are made under ``tf.control_dependencies``."""
_WAITS = ".control_dependencies"
_GROUP, _NOTHING = "tensorflow.group", ("tensorflow.no_op", "tensorflow.identity")
"""What has no value of its own, or that of another op."""


def apart(program: Program, one: Event, other: Event) -> bool:
    """Whether one of two ops waits for the other, as far as can be told."""
    return _waits(program, one, other) or _waits(program, other, one)


def with_steps(program: Program, made: set[int]) -> set[int]:
    """The ``id`` of ops, and of what runs them all the same: groups of them, and ops that wait for them.

    ``with tf.control_dependencies([step, averages]): train = tf.no_op()``; a group is such an op, too, which waits for
    its members besides (tensorflow/python/ops/control_flow_ops.py: ``_GroupControlDeps`` makes a ``no_op``).
    """
    found = set(made)
    makers = results(program) if found and program.calls(_GROUP, *_NOTHING) else Makers()
    for event in program.calls(_GROUP, *_NOTHING) if makers else ():
        blocks = (block for block in _blocks(program, event) if block is not None)
        given = [*event.args, *event.kwargs.values(), *(one for block in blocks for one in block.args)]
        if any(id(one) in found for value in given for one in made_in(value, makers)):
            found.add(id(event))
    return found


def _waits(program: Program, event: Event, other: Event) -> bool:
    """Whether an op is made under dependencies of another, or under such that are not known."""
    if not event.inside(_ORDERED):
        return False
    makers = results(program)
    for block in _blocks(program, event):
        if block is None:
            return True
        given = (*block.args, *block.kwargs.values())
        if id(other) in origins(program, *given) or not all(_known(one, makers) for one in given):
            return True
    return False


def _blocks(program: Program, event: Event) -> Iterator[Event | None]:
    """The calls of ``tf.control_dependencies`` whose ``with`` stands around an op; None for one that was not seen.

    What was told last outside of a block is the call that it begins with.
    """
    depth = event.contexts.count(_ORDERED)
    for index in range(event.index - 1, -1, -1):
        if not depth:
            return
        before = program.events[index]
        if (outside := before.contexts.count(_ORDERED)) < depth:
            yield before if before.name.endswith(_WAITS) else None
            depth = outside
    if depth:
        yield None


def _known(value: Value | None, makers: Makers) -> bool:
    """Whether all that is waited for is made by calls that were seen, or is what layers put into a collection."""
    for _, leaf in alternatives(value):
        if isinstance(leaf, (Seq, Dict)):
            inside = leaf.items.values() if isinstance(leaf, Dict) else (leaf.items or ())
            if not all(_known(one, makers) for one in inside) or (isinstance(leaf, Seq) and leaf.items is None):
                return False
            continue
        made = list(made_in(leaf, makers))
        if not made or any(one.name == COLLECTION and not _of_layers(one) for one in made):
            return False
    return True


def _of_layers(collection: Event) -> bool:
    """Whether layers fill it: with the averages of batch normalizations."""
    name = collection.args[0] if collection.args else None
    return any(isinstance(leaf, Ref) and leaf.name == UPDATE_OPS for _, leaf in alternatives(name))
