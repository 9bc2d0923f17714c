"""Weights of TensorFlow and Keras that nothing trains: they stay as they were drawn, where a default run loads none.

Which network a load fills is not asked: each of them needs something that a default run does not have.
"""

from __future__ import annotations

import re

from d9mlint.model import Argument
from d9mlint.python.domain.conditions import Cond, both, by_default, either, negate, symbolic_part
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, alternatives
from d9mlint.python.interpreter.program import Program

_LOADS = re.compile(
    r"\w*(load_(state|checkpoint|ckpt|weights|model|pretrained|params)|restore|set_weights|set_value|assign|from_pretrained|"
    r"from_saved|init_from)\w*|read",
    re.IGNORECASE,
)
"""Last names of what may give variables the values of a file, by all appearance."""
_READS = re.compile(r"(builtins|io|pathlib|tensorflow\.io|os|json|yaml|numpy|\?)\..*read\w*|.*get_weights")
"""Calls of such a name that only read a file."""
_APPLIES = re.compile(r"(keras\..*|\?)\.(predict|predict_on_batch|predict_generator|evaluate)|tensorflow\.Session\.run")
_SAVES = ("keras.models.save_model", "keras.Model.save", "keras.Model.save_weights", "keras.saving.save_model")
_TRAINS = re.compile(r"\w*(train|fit|minimi[sz]e|apply_gradients|learn)\w*", re.IGNORECASE)
"""Last names of what may train, by all appearance, also where it is not known."""
_DROPS = "ropout"
"""In the name of a layer that has no weights."""
_RATES = {
    "tensorflow.nn.dropout": (Argument(1, "keep_prob"), Argument(None, "rate")),
    "tensorflow.nn.rnn_cell.DropoutWrapper": (
        Argument(1, "input_keep_prob"), Argument(2, "output_keep_prob"), Argument(3, "state_keep_prob"),
    ),
}  # fmt: skip
"""Ops that drop out in whichever run of a graph, and where they are told how much (ops/nn_ops.py,
ops/rnn_cell_impl.py of TensorFlow 1.15)."""
_RESTORE = "tensorflow.train.Saver().restore"


def drawn(program: Program, draw: Event) -> Cond:
    """When the weights that a call draws are those of a result, although nothing trains them."""
    if _DROPS in draw.name:
        return False
    return either(program.once("untrained-tensorflow", _drawn), _saved(program, draw))


def _saved(program: Program, draw: Event) -> Cond:
    """When a network of Keras is saved as it was made: by a program that begins what others go on with.

    A layer may be given its weights (``weights=[...]``; keras 2.2: ``Layer.__init__``), and so may a network by loads.
    """
    if draw.star or "weights" in draw.kwargs or not draw.name.startswith("keras."):
        return False
    saves = program.once("untrained-saved", _saves)
    return either(*(both(*save.guards, *save.excluded) for save in saves if save.index > draw.index))


def _saves(program: Program) -> list[Event]:
    """The calls that save a network of Keras in a program that trains nothing and gives no weights to anything."""
    if program.training is not False or program.story.truncated:
        return []
    calls = [e for e in program.events if e.kind in ("call", "unresolved")]
    if any(_fills(event) or _TRAINS.fullmatch(event.name.rpartition(".")[2]) for event in calls if not event.detached):
        return []
    return [event for event in program.calls(*_SAVES) if not event.detached]


def _fills(event: Event) -> bool:
    """Whether a call may give variables the values of a file."""
    return bool(_LOADS.fullmatch(event.name.rpartition(".")[2])) and not _READS.fullmatch(event.name)


def _drawn(program: Program) -> Cond:
    if by_default(program.training) is not False or program.story.truncated:
        return False
    calls = [e for e in program.events if e.kind in ("call", "unresolved") and not e.detached]
    loads = [e for e in calls if _fills(e)]
    conds = [both(*e.guards, *e.excluded) for e in loads]
    if not loads or any(by_default(cond) is not False for cond in conds):
        return False
    applied = (e for e in calls if _APPLIES.fullmatch(e.name) and by_default(both(*e.guards, *e.excluded)) is not False)
    if not any(e.index > loads[0].index for e in applied):
        return False
    return negate(either(*map(symbolic_part, conds)))


def drops_anyhow(program: Program, draw: Event) -> bool:
    """Whether a dropout is part of a restored graph, whether that is trained or predicts: its rate is a constant."""
    if draw.name not in _RATES or not _drops(draw):
        return False
    return program.once("restored-graph", _restored) and not any(
        one.location == draw.location and not _drops(one) for one in program.calls(draw.name)
    )


def _drops(draw: Event) -> bool:
    """Whether the rate is a constant with which something is dropped, whatever the settings are."""
    given = [value for at in _RATES[draw.name] if (value := draw.argument(at)) is not None]
    leaves = [[leaf.value if isinstance(leaf, Const) else None for _, leaf in alternatives(one)] for one in given]
    return any(all(isinstance(rate, float) and 0 < rate < 1 for rate in rates) for rates in leaves)


def _restored(program: Program) -> bool:
    return any(not event.detached for event in program.calls(_RESTORE))
