"""Weights of Keras that a file replaces before anything is trained: what they were drawn with changes nothing."""

from __future__ import annotations

import re

from d9mlint.python.domain.conditions import Cond, both, either, negate, symbolic_part, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.tensorflow.graphs import origins
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by

_LOADS, _ADDS = ".load_weights", ".add"
_PATH = frozenset({"filepath"})
_KERAS = ("keras.", "tf_keras.")
_RANDOM = re.compile(r"ropout|Noise|Random|Augment")
"""In the name of a layer that has no weights, and draws as it is used."""


def kept(program: Program, draw: Event) -> Cond:
    """The condition under which the weights of a layer are not those of a file that its network loads as a whole.

    By name, or where shapes differ (``by_name``, ``skip_mismatch``), only some of them may be there.
    """
    if not draw.name.startswith(_KERAS) or _RANDOM.search(draw.name):
        return True
    loads = program.once("loaded-weights-of-keras", _loads).get(id(draw), ())
    replaced = either(*(both(*one.guards) for one in loads if one.index > draw.index))
    return False if truth(replaced, draw.guards) is True else symbolic_part(negate(replaced))


def _loads(program: Program) -> dict[int, list[Event]]:
    """The loads before anything trains, by the ``id`` of each call that makes a layer of the network."""
    begin = min((e.index for e in program.trains if not e.detached), default=len(program.events))
    found: dict[int, list[Event]] = {}
    for load in program.ending((_LOADS,), "call"):
        plain = len(load.args) + len(load.kwargs) == 1 and _PATH.issuperset(load.kwargs)
        if not plain or load.index > begin or load.tried or load.detached or not load.certain:
            continue
        for model in made_by(load.receiver):
            for layer in _layers(program, model, load):
                found.setdefault(layer, []).append(load)
    return found


def _layers(program: Program, model: Event, load: Event) -> set[int]:
    """The ``id`` of each call that makes a layer of a network, as it is when its weights are loaded."""
    added = [
        value for one in program.ending((_ADDS,), "call")
        if model.index < one.index < load.index and any(made is model for made in made_by(one.receiver))
        for value in one.args
    ]  # fmt: skip
    return set(origins(program, *model.args, *model.kwargs.values(), *added))
