"""Weights of TensorFlow and Keras that nothing trains: they stay as they were drawn, where a default run loads none.

Which network a load fills is not asked: each of them needs something that a default run does not have. Where nothing
loads weights at all, they count if a session computes with them what is written to a file: many a benchmark needs none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from d9mlint.model import Argument
from d9mlint.python.domain.conditions import Cond, both, by_default, either, negate, symbolic_part
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Const, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.tensorflow.sessionruns import RUN
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, made_of, results

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
_PERHAPS_LOADS = re.compile(r"\w*(load|restor|pretrain|weights|import|convert|assign|copy|transfer)\w*", re.IGNORECASE)
"""Last names of what may give variables the values of a file where nothing of a plainer name does."""
_READS_DATA = re.compile(r"(numpy|pickle|json|yaml|joblib|scipy|h5py|copy)\..*|.*\.loadmat|.*\.copy")
"""Calls of such a name whose result only a constant or an assignment, which says so, makes a variable of."""
_STARTS = ("tensorflow.global_variables_initializer", "tensorflow.initialize_all_variables")
_WRITES = re.compile(
    r".*\.(imsave|imwrite|mimsave|save_image|save_img|Image\.save|tofile|wavfile\.write)|numpy\.save\w*|soundfile\.write"
)
"""What writes pictures, sounds and arrays; what is measured mostly goes into texts."""
_MOST_STEPS = 200
_MOST_DEPTH = 3


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
    if _done(program, lambda name: _fills(name) or _TRAINS.fullmatch(_last(name))):
        return []
    return [event for event in program.calls(*_SAVES) if not event.detached]


def _done(program: Program, test: Callable[[str], object]) -> list[Event]:
    """The calls whose names pass a test, without those of code that nothing is seen to call."""
    return [event for event in program.named(test, "call", "unresolved") if not event.detached]


def _fills(name: str) -> bool:
    """Whether a call of this name may give variables the values of a file."""
    return bool(_LOADS.fullmatch(_last(name))) and not _READS.fullmatch(name)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _drawn(program: Program) -> Cond:
    if by_default(program.training) is not False or program.story.truncated:
        return False
    loads = _done(program, _fills)
    if not loads:
        return _written(program)
    conds = [both(*e.guards, *e.excluded) for e in loads]
    if any(by_default(cond) is not False for cond in conds):
        return False
    applied = (e for e in _done(program, _APPLIES.fullmatch) if e.index > loads[0].index)
    if all(by_default(both(*e.guards, *e.excluded)) is False for e in applied):
        return False
    return negate(either(*map(symbolic_part, conds)))


def _written(program: Program) -> bool:
    """Whether a session starts from weights that nothing gives other values, and a file holds what it computes so."""
    started = [e for e in program.calls(*_STARTS) if not e.detached and by_default(both(*e.guards)) is not False]
    if not started or _done(program, _perhaps_fills):
        return False
    makers = results(program)
    return any(
        by_default(both(*e.guards, *e.excluded)) is not False and _of_session(e, makers)
        for e in _done(program, _WRITES.fullmatch)
        if e.index > started[0].index
    )


def _perhaps_fills(name: str) -> bool:
    return bool(_PERHAPS_LOADS.fullmatch(_last(name))) and not _READS_DATA.fullmatch(name)


def _of_session(event: Event, makers: Makers) -> bool:
    """Whether a call is given what a session has computed, or what is made of that; not all unpacking is followed."""
    seen: set[int] = set()
    left = [event]
    while left and len(seen) < _MOST_STEPS:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if one.name == RUN:
            return True
        for leaf in _leaves((*one.args, *one.kwargs.values())):
            made = [*made_of(leaf, makers), *taint([leaf])[2]]
            if not made and isinstance(leaf, Unknown) and not leaf.origins:
                return True
            left += made
    return False


def _leaves(values: Iterable[Value], depth: int = 0) -> Iterator[Value]:
    """What values may be, and the items of lists."""
    for value in values:
        for _, leaf in alternatives(value):
            if isinstance(leaf, Seq) and depth < _MOST_DEPTH:
                items = [*(leaf.items or ()), *([leaf.element] if leaf.element is not None else [])]
                yield from _leaves(items, depth + 1)
            else:
                yield leaf


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
