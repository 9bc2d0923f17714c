"""Weights in files of NumPy or pickle: taken from a model, or from its variables, and put back from there."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import UNKNOWN, Const, Dict, Ref, Seq, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, made_of, results

PICKLED = ("pickle.load", "cPickle.load", "cloudpickle.load", "dill.load", "joblib.load")
PICKLES = ("pickle.dump", "cPickle.dump", "cloudpickle.dump", "dill.dump", "joblib.dump")
LOADS = ("numpy.load", *PICKLED)
SAVES = ("numpy.save", "numpy.savez", *PICKLES)
_GET, _SET = "keras.Model.get_weights", "keras.Model.set_weights"
_VARIABLES = (".variables", ".trainable_variables", ".weights", ".trainable_weights")
"""How the lists of variables end that models and modules have."""
STEPS = ("optax.apply_updates", "equinox.apply_updates")
"""Calls that give the parameters after a step, as values (optax/_src/update.py, equinox/_update.py)."""
_OF_EACH = ("jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map", "jax.tree_multimap")
"""Calls that make something of each array of parameters: ``tree.map(lambda a, b: 0.9 * a + 0.1 * b, mean, params)``."""
_TAKES = (".numpy", ".state_dict")
"""How methods end that give the arrays of a variable, or all of a network."""


def holds_weights(program: Program, save: Event) -> bool:
    """Whether a call writes the arrays of a model's weights."""
    stepped = program.once("stepped", _stepped)
    parts = [part for value in save.args for part in _parts(value)]
    return any(id(part) in stepped or _of_weights(part, results(program)) for part in parts)


def _stepped(program: Program) -> frozenset[int]:
    """The ``id`` of each value that a step of training is taken from, as before the first one."""
    given = (leaf for e in program.calls(*STEPS) for value in e.args[:1] for _, leaf in alternatives(value))
    return frozenset(id(leaf) for leaf in given if leaf is not UNKNOWN and not isinstance(leaf, Const))


def _of_weights(value: Value, makers: Makers, depth: int = 3) -> bool:
    """Whether a value, or a part of it, is the arrays of a model's weights, or an average of them."""
    for made in (one for part in _parts(value) for one in made_of(part, makers)):
        if made.name in (_GET, *STEPS) or made.name.endswith(_TAKES) or _takes_variables(made):
            return True
        if depth and made.name in _OF_EACH and any(_of_weights(one, makers, depth - 1) for one in made.args[1:]):
            return True
    return False


def _parts(value: Value) -> Iterator[Value]:
    """What a value may be, and what is in it where that is a list or a dict."""
    for _, leaf in alternatives(value):
        yield leaf
        if isinstance(leaf, Dict):
            yield from (one for item in leaf.items.values() for _, one in alternatives(item))
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
