"""Networks that only score: loaded, put into evaluation mode, and handed to nothing that would train them."""

from __future__ import annotations

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.torch.parameters.frozen import frozen
from d9mlint.python.interpreter.program import Program, matches
from d9mlint.python.interpreter.provenance import made_by

_EVALUATION = Argument(None, "evaluation_mode")
"""Of ``accelerate.Accelerator.prepare_model``: the model is not wrapped for gradients (accelerate/accelerator.py)."""
_TRAINS = ("train", "parameters", "named_parameters", "train_step")


def only_scores(program: Program, made: Event) -> bool:
    """Whether the network that a call makes is surely not trained."""
    return id(made) in program.once("scorers", _scorers) or id(made) in frozen(program)


def _scorers(program: Program) -> frozenset[int]:
    scoring: set[int] = set()
    prepared: set[int] = set()
    training: set[int] = set()
    for event in program.events:
        last = event.name.rpartition(".")[2]
        if event.kind not in ("call", "unresolved"):
            continue
        given = [made for value in (*event.args, *event.kwargs.values()) for made in made_by(value)]
        if last == "prepare_model" and matches(event.argument(_EVALUATION), True) is True:
            prepared.update(map(id, given))
        elif last == "eval" and not event.args:
            scoring.update(map(id, made_by(event.receiver)))
        elif last in _TRAINS:
            training.update(map(id, made_by(event.receiver)))
        elif not event.name.startswith("builtins."):
            training.update(map(id, given))
    return frozenset(prepared | (scoring - training))
