"""Estimators, which make the graph by themselves: what seeds it is a part of their configuration."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import TAKES_SEED, Argument, Related
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Obj, Value, alternatives
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.interpreter.provenance import calls_of, results

ESTIMATOR = "tensorflow.estimator.Estimator"
TRAIN, TRAIN_AND_EVALUATE = f"{ESTIMATOR}.train", "tensorflow.estimator.train_and_evaluate"
_TRAINED, _CONFIG, _FOLDER = Argument(0, "estimator"), Argument(None, "config"), Argument(1, "model_dir")
_STEPS = Argument(3, "max_steps")
_TELL_KERAS = (
    "keras.Model", "keras.Sequential", "keras.backend.set_learning_phase", "keras.backend.learning_phase_scope",
    "keras.estimator.model_to_estimator",
)  # fmt: skip
_DRAW_IN_TRAINING = (
    "keras.layers.Dropout",
    "keras.layers.SpatialDropout",
    "keras.layers.Gaussian",
    "keras.layers.Alpha",
)
_TRAINING = Argument(1, "training")
_TEMPORARY = ("tempfile.", "absl.testing.")


def remedy(program: Program) -> str:
    """How the graph of an Estimator is seeded; empty for programs without any (estimator.py, ``_train_model``)."""
    made = program.once("estimators", _makers)
    if not made:
        return ""
    if _configurations(made):
        told = "give the Estimator's configuration a seed, `RunConfig(tf_random_seed=1)`"
    else:
        config = f"{'tf' if made[0].name.startswith('tensorflow.') else 'tensorflow'}.estimator.RunConfig"
        name = made[0].raw.rpartition(".")[2]
        told = f"give the Estimator a configuration with a seed, `{name}(config={config}(tf_random_seed=1))`"
    return f"{told}: the Estimator makes its graph by itself, and seeds it with that alone"


def untold(program: Program, layer: Event) -> bool:
    """Whether Estimators train a layer of Keras and nothing tells it so: no model or layer around it, nor Keras."""
    owner = layer.func.owner if layer.func is not None else None
    around = owner is not None and any(base.startswith(("keras.", "tensorflow.")) for base in owner.external())
    return bool(program.once("estimators", _makers)) and not around and not program.calls(*_TELL_KERAS)


def never_drops(program: Program, layer: Event) -> bool:
    """Whether a layer that draws only while it is trained is called, and never told that it is (see `untold`)."""
    if not layer.name.startswith(_DRAW_IN_TRAINING) or not program.once("estimators", _makers):
        return False
    calls = list(calls_of(layer, results(program)))
    return bool(calls) and all(untold(program, one) and one.argument(_TRAINING) is None for one in calls)


def places(program: Program) -> list[Related]:
    """Where the configurations of Estimators are made; the Estimators themselves where they have none."""
    made = program.once("estimators", _makers)
    found = _configurations(made) or made
    return [Related(location, TAKES_SEED) for location in dict.fromkeys(one.location for one in found)]


def _makers(program: Program) -> list[Event]:
    calls = (e for e in program.events if e.kind == "call" and not e.detached)
    return [e for e in calls if isinstance(e.result, Obj) and e.result.type == ESTIMATOR and e.result.event is e]


def _configurations(made: list[Event]) -> list[Event]:
    """The calls that make what these Estimators are given as their configuration."""
    given = [value for one in made if (value := one.argument(_CONFIG)) is not None]
    leaves = (leaf for value in given for _, leaf in alternatives(value))
    found = [leaf.event for leaf in leaves if isinstance(leaf, Obj) and leaf.event is not None]
    return [one for one in found if one.name.rpartition(".")[2] in ("RunConfig", "replace")]


def folders(program: Program) -> Iterator[tuple[Event, Value]]:
    """The calls that train an Estimator, each with the folder from which it goes on where there is a checkpoint."""
    for training in program.calls(TRAIN, TRAIN_AND_EVALUATE):
        made = _made(training)
        folder = _model_dir(made) if made is not None else None
        if folder is not None:
            yield training, folder


def ends(training: Event) -> bool:
    """Whether the number of steps counts those of earlier runs: with ``steps`` a second run trains on."""
    return training.argument(_STEPS) is not None or training.name == TRAIN_AND_EVALUATE


def _made(training: Event) -> Event | None:
    """The call that made the Estimator that is trained."""
    trained = training.receiver if training.name == TRAIN else training.argument(_TRAINED)
    found = (leaf for _, leaf in alternatives(trained)) if trained is not None else ()
    return next((leaf.event for leaf in found if isinstance(leaf, Obj) and leaf.event is not None), None)


def _model_dir(made: Event) -> Value | None:
    """The folder that is given to an Estimator, or to its configuration; None where it makes one of its own."""
    config = made.argument(_CONFIG)
    given = [made.argument(_FOLDER)]
    for _, leaf in alternatives(config) if config is not None else ():
        if isinstance(leaf, Obj) and leaf.event is not None:
            given.append(leaf.event.kwargs.get("model_dir"))
    folder = next((one for one in given if one is not None and is_none(one) is not True), None)
    temporary = isinstance(folder, Obj) and folder.type.startswith(_TEMPORARY)
    return None if temporary else folder
