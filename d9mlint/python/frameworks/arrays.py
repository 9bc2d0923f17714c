"""Weights in files of NumPy or pickle: taken from a model, or from its variables, and put back from there."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Dict, Ref, Seq, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_of, results

PICKLED = ("pickle.load", "cPickle.load", "cloudpickle.load", "dill.load", "joblib.load")
PICKLES = ("pickle.dump", "cPickle.dump", "cloudpickle.dump", "dill.dump", "joblib.dump")
LOADS = ("numpy.load", *PICKLED)
SAVES = ("numpy.save", "numpy.savez", *PICKLES)
_GET, _SET = "keras.Model.get_weights", "keras.Model.set_weights"
_VARIABLES = (".variables", ".trainable_variables", ".weights", ".trainable_weights")
"""How the lists of variables end that models and modules have."""
_TAKES = (".numpy", ".state_dict")
"""How methods end that give the arrays of a variable, or all of a network."""


def holds_weights(program: Program, save: Event) -> bool:
    """Whether a call writes the arrays of a model's weights."""
    makers = results(program)
    made = (one for value in save.args for part in _parts(value) for one in made_of(part, makers))
    return any(one.name == _GET or one.name.endswith(_TAKES) or _takes_variables(one) for one in made)


def _parts(value: Value) -> Iterator[Value]:
    """What a value may be, and what is in it where that is a list or a dict."""
    for _, leaf in alternatives(value):
        yield leaf
        if isinstance(leaf, Dict):
            yield from leaf.items.values()
        elif isinstance(leaf, Seq) and leaf.element is not None:
            yield leaf.element


def fills(program: Program, load: Event) -> bool:
    """Whether a model is filled with what a call reads, at once or variable by variable.

    ``for variable, value in zip(model.variables, values): variable.assign(value)``, and the same by
    ``tf.nest.map_structure``.
    """
    return id(load) in program.once("array-fills", _filling)


def _filling(program: Program) -> frozenset[int]:
    """The ``id`` of each call that makes what a model is filled with."""
    makers = results(program)
    calls = (e for e in program.events if e.kind == "call" and not e.detached)
    taking = (e for e in calls if e.name == _SET or _takes_variables(e))
    return frozenset(id(made) for event in taking for value in event.args for made in made_of(value, makers))


def _takes_variables(event: Event) -> bool:
    """Whether a call is given the variables of a model."""
    return any(isinstance(value, Ref) and value.name.endswith(_VARIABLES) for value in event.args)
