"""Reads that one ``Session.run`` makes beside the write of what they read: of trained weights, and of an iterator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.model import Argument, Location
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Dict, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.tensorflow import waiting
from d9mlint.python.frameworks.tensorflow.graphs import origins
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, made_of, results

_LOSS = Argument(0, "loss")
_APPLIES, _COMPUTES, _GRADIENTS = ".apply_gradients", ".compute_gradients", "tensorflow.gradients"
_ONLY = {
    ".minimize": Argument(2, "var_list"),
    _COMPUTES: Argument(1, "var_list"),
    _GRADIENTS: Argument(1, "xs"),
}
"""What computes gradients, and where it is told of which variables (training/optimizer.py of 1.15.5)."""
_WEIGHTS = re.compile(r"tensorflow\.(get_variable|Variable|trainable_variables)")
_LAYER = re.compile(
    r"tensorflow\.(layers|contrib\.layers|contrib\.slim)\.(?!dropout|batch_norm|max_|average_|avg_|flatten)[a-z]\w*|tf_slim\.\w+"
)
_SHOWN = re.compile(r"tensorflow\.summary\.\w+|tensorflow\.(Print|print)")
_INITIALIZER, _NEXT = re.compile(r"tensorflow\.data\..*\.make_initializer|\?\.make_initializer"), ".get_next"
_UPDATES = (
    ".minimize",
    ".apply_gradients",
    ".assign",
    ".assign_add",
    ".assign_sub",
    "ExponentialMovingAverage().apply",
)
_INITIALIZES = ".initializer"


class Read(NamedTuple):
    """What is fetched beside a write: the call that made it, what it reads, and the call that writes."""

    event: Event
    write: Event
    words: str
    shown: bool
    """It only goes into a summary."""


def of_weights(program: Program, fetched: Value, steps: list[Event]) -> Iterator[Read]:
    """What is computed from the weights by another computation than the one whose gradients change them.

    The loss, and all that goes into it, is known before the gradients are; a second pass of the network, the norm or
    the histogram of its weights is computed before the update, after it, or in the middle.
    """
    for step in steps:
        loss = step.argument(_LOSS)
        before = origins(program, loss) if loss is not None else {}
        layers = {e.location for e in before.values() if _LAYER.fullmatch(e.name)}
        weights = {id(e) for e in before.values() if _WEIGHTS.fullmatch(e.name)}
        if not layers and not weights:
            continue  # what the loss is computed from is not known
        for event in _fetched(fetched, results(program)):
            if event is step or id(event) in before or not event.name.startswith("tensorflow."):
                continue
            if _WEIGHTS.fullmatch(event.name):
                continue  # fetched as it is: one that the step has changed already, or has not, in each run alike
            behind = origins(program, event.result)
            again = [e for key, e in behind.items() if key not in before]
            if any(e is step or e.name.endswith(_UPDATES) or waiting.apart(program, e, step) for e in again):
                continue
            passes = any(e.location in layers for e in again)
            direct = any(_takes(e, behind, weights) for e in again)
            if passes or direct:
                yield Read(event, step, "weights", all(map(_only_shown, _takers(again, behind, weights, layers))))


def gradients(program: Program, step: Event) -> list[Event]:
    """The calls that compute the gradients which a training step applies, one of each place; itself for ``minimize``.

    An optimizer applies those that it has computed itself, also where they were averaged over towers in between.
    """
    if not step.name.endswith(_APPLIES):
        return [step]
    own = program.calls(step.name.removesuffix(_APPLIES) + _COMPUTES)
    found = [e for e in own if step.receiver is not None and e.receiver is step.receiver]
    found += [e for e in origins(program, *step.args).values() if e.name.endswith((_COMPUTES, _GRADIENTS))]
    return list({e.location: e for e in found}.values())


def shared(program: Program, one: Event, other: Event) -> bool:
    """Whether a step by the gradients of one call may change weights that another computes gradients from.

    Not where each has variables of its own and both go down the same loss (a wide part and a deep one), and not where
    the losses are computed by different layers from different variables.
    """
    losses = [each.argument(_LOSS) or Unknown() for each in (one, other)]
    before = [origins(program, loss) for loss in losses]
    same = {id(leaf) for _, leaf in alternatives(losses[0])} == {id(leaf) for _, leaf in alternatives(losses[1])}
    if same and all(_of_some(each) for each in (one, other)):
        return False
    first, second = (
        {e.location for e in each.values() if _LAYER.fullmatch(e.name) or _WEIGHTS.fullmatch(e.name)} for each in before
    )
    return not first or not second or not first.isdisjoint(second)


def _of_some(gradients: Event) -> bool:
    """Whether a call is told of which variables it computes gradients."""
    return any(gradients.name.endswith(end) and gradients.argument(one) is not None for end, one in _ONLY.items())


def _takers(again: list[Event], behind: dict[int, Event], weights: set[int], layers: set[Location]) -> list[Event]:
    return [e for e in again if e.location in layers or _takes(e, behind, weights)]


def _only_shown(event: Event) -> bool:
    return bool(_SHOWN.fullmatch(event.name))


def _takes(event: Event, behind: dict[int, Event], weights: set[int]) -> bool:
    """Whether a call is handed one of these variables."""
    makers = Makers((id(e.result), e) for key, e in behind.items() if key in weights)
    given = (*event.args, *event.kwargs.values(), *((event.receiver,) if event.receiver is not None else ()))
    return any(id(made) in weights for value in given for made in _parts(value, makers))


def _parts(value: Value, makers: Makers) -> Iterator[Event]:
    for _, leaf in alternatives(value):
        inside = (*(leaf.items or ()), leaf.element) if isinstance(leaf, Seq) else (leaf,)
        for part in inside:
            yield from made_of(part, makers)


def of_iterators(program: Program, fetched: Value) -> Iterator[Read]:
    """What is computed from the next element of an iterator that is set to a dataset in the same call."""
    made = list(_fetched(fetched, results(program)))
    starts = [e for e in made if _INITIALIZER.fullmatch(e.name)]
    for start in starts:
        for event in made:
            if event is start:
                continue
            behind = origins(program, event.result)
            taken = next((e for e in behind.values() if e.name.endswith(_NEXT) and _same(e, start)), None)
            if taken is not None:
                yield Read(event, start, "iterator", False)
                return


def _same(taken: Event, start: Event) -> bool:
    """Whether both are methods of one iterator, as far as can be told."""
    one = {id(leaf) for _, leaf in alternatives(taken.receiver)}
    return bool(one & {id(leaf) for _, leaf in alternatives(start.receiver)})


def _fetched(value: Value, makers: Makers) -> Iterator[Event]:
    """The calls that made what is fetched, in lists and dicts, too."""
    for _, leaf in alternatives(value):
        if isinstance(leaf, Ref) and leaf.name.endswith(_INITIALIZES):
            yield from made_of(leaf.receiver, makers)
        elif isinstance(leaf, (Seq, Dict)):
            inside = leaf.items.values() if isinstance(leaf, Dict) else (*(leaf.items or ()), leaf.element)
            for part in inside:
                if part is not None:
                    yield from _fetched(part, makers)
        else:
            yield from made_of(leaf, makers)
