"""Estimators, which make the graph by themselves: what seeds it is a part of their configuration."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Obj, Value, alternatives
from d9mlint.python.interpreter.program import Program, is_none

ESTIMATOR = "tensorflow.estimator.Estimator"
TRAIN, TRAIN_AND_EVALUATE = f"{ESTIMATOR}.train", "tensorflow.estimator.train_and_evaluate"
_TRAINED, _CONFIG, _FOLDER = Argument(0, "estimator"), Argument(None, "config"), Argument(1, "model_dir")
_STEPS = Argument(3, "max_steps")
_TEMPORARY = ("tempfile.", "absl.testing.")


def remedy(program: Program) -> str:
    """How the graph of an Estimator is seeded; empty for programs without any (estimator.py, ``_train_model``)."""
    if not program.once("estimators", _has_estimator):
        return ""
    return "`RunConfig(tf_random_seed=1)` for the Estimator, which makes its graph by itself and seeds it with that"


def _has_estimator(program: Program) -> bool:
    return any(isinstance(e.result, Obj) and e.result.type == ESTIMATOR and not e.detached for e in program.events)


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
