"""What a training that goes on from a checkpoint loses besides its random generators: optimizers and the like."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Ref, Seq, Value, alternatives
from d9mlint.python.frameworks.tensorflow import graphs
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.loops import RANGES, header_of, is_fixed

_LOAD, _OF_UNKNOWN = "torch.optim.Optimizer.load_state_dict", "?."
_UPDATES = (".update", ".update_parameters")
_STATE, _NETWORKS = ".load_state_dict", "torch.nn."
OPTIMIZER, PLACE = "optimizer", "place in the epoch"
EPOCH, BEST = "number of epochs or steps done", "best result so far"
BUFFER, KEYS = "replay buffer", "random key that is split while it trains"
SCHEDULE, PRECISION = "learning-rate scheduler", "full precision of the weights"
AVERAGE, SCALER = "moving average of the weights", "gradient scaler"
STATISTICS = "running statistics that the data are scaled by"
UNREAD, NOT_TAKEN_UP = "saved, but never loaded", "saved, but the loop does not begin with it"
_KINDS = {
    OPTIMIZER: ("torch.optim.",), SCHEDULE: ("torch.optim.lr_scheduler.",),
    AVERAGE: (
        "torch.optim.swa_utils.AveragedModel", "timm.utils.ModelEma", "timm.utils.model_ema.", "torch_ema.",
        "ema_pytorch.", "diffusers.training_utils.EMAModel",
    ),
    SCALER: ("torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.GradScaler"),
}  # fmt: skip
"""What steps in a training, by the beginnings of the names that make it; the last that fits counts."""
_GENERATORS = "does not continue the random numbers of the interrupted one"
_CHANGES = {
    OPTIMIZER: "starts its averages of the gradients anew",
    SCHEDULE: "starts the schedule of the learning rate anew",
    AVERAGE: "starts the average of the weights anew",
    STATISTICS: "begins these anew",
    SCALER: "scales the loss as at the very start",
    PLACE: "goes through the data of the epoch from the beginning",
    EPOCH: "counts its epochs or steps from the start",
    PRECISION: "goes on with weights that are rounded to 16 bits",
    BUFFER: "learns first only from what it meets anew",
    KEYS: "draws as at the very start",
    BEST: "takes its first result for the best",
}
"""What a resumed run does because its checkpoint does not hold a kind of state, or as nothing loads it."""
_MOMENTUM = Argument(2, "momentum")
_SGD, _LAST = "torch.optim.SGD", "last_epoch"
_EPOCH, _STEP = Argument(0, "epoch"), ".step"
_BY_ITSELF = (".ReduceLROnPlateau", ".MultiplicativeLR")
"""Schedulers that are told results instead, or that compute each rate from the last."""
_TRAINABLE = ("tensorflow.trainable_variables", "tensorflow.contrib.slim.get_trainable_variables")
_COLLECTION, _OF_TRAINABLE = Argument(0, "key"), ("tensorflow.GraphKeys.TRAINABLE_VARIABLES", "trainable_variables")
_VARIABLES = Argument(0, "var_list")
_STATELESS = "tensorflow.train.GradientDescentOptimizer"
_MINIMIZES = ("tensorflow.train.Optimizer.minimize", "tensorflow.train.Optimizer.apply_gradients")


def lost(
    program: Program, load: Event, steps: Sequence[Event], handed: Collection[int] = frozenset()
) -> tuple[str, ...]:  # fmt: skip
    """The kinds of what makes the ``steps`` of the training after a load, and is not loaded; mostly none.

    ``handed`` has the ``id`` of each object that is loaded because the program has handed it to what loads.
    """
    makers = {id(e.result): e for e in program.events if e.kind == "call" and e.result is not None and _kind(e)}
    loading = [e for e in program.ending(_STATE, "call") if not e.detached]
    networks = {e.location for e in loading if e.name.startswith(_NETWORKS)}  # at one place it is one variable
    untold = (e for e in loading if e.name == _LOAD or e.name.startswith(_OF_UNKNOWN))
    unknown = (e for e in untold if e.location not in networks)  # (a part of what is not known: `?.optimizer`)
    loads = [[*_made_by(e, makers)] for e in unknown]
    if not all(loads):
        return ()  # what is loaded there may be any of them
    # `scheduler.last_epoch = start - 1` sets a schedule on from where it was.
    moved = (e for e in program.ending(f".{_LAST}", "set") if not e.detached)
    kept = {_kind(made) for several in (*loads, *(_made_by(e, makers) for e in moved)) for made in several}
    kept |= {_kind(made) for e in loading for made in _made_by(e, makers)}
    kept |= {_kind(made) for result, made in makers.items() if result in handed}
    after = [e for e in (*steps, *_updates(program, steps)) if e.index > load.index and e.meets(load)]
    kinds = {
        _kind(made) for event in after for made in _made_by(event, makers)
        if _remembers(made) and not _is_told_epoch(program, event, made)
    }  # fmt: skip
    return tuple(kind for kind in _KINDS if kind in kinds - kept)


def _updates(program: Program, steps: Sequence[Event]) -> list[Event]:
    """Where averages take up the weights, in the loops that change those."""
    loops = {number for step in steps for number in step.loops}
    called = (e for e in program.ending(_UPDATES, "call") if not e.detached)
    return [e for e in called if loops.intersection(e.loops)]


def lost_by_saver(program: Program, load: Event) -> tuple[str, ...]:
    """The same of a saver of TensorFlow 1 that was given the trainable variables only: no slots of an optimizer."""
    listed = (*program.calls(*_TRAINABLE), *filter(_asks_for_trainable, program.calls(graphs.COLLECTION)))
    given = (made.argument(_VARIABLES) for made in made_by(load.receiver))
    alone = any(_is_of(leaf, listed) for value in given for _, leaf in alternatives(value))
    made = [m for e in program.calls(*_MINIMIZES) if not e.detached for m in made_by(e.receiver)]
    return (OPTIMIZER,) if alone and any(m.name != _STATELESS for m in made) else ()


def _is_of(variables: Value, listed: Sequence[Event]) -> bool:
    """Whether a list is what one of these calls gives, or what is picked from that."""
    if any(variables is event.result for event in listed):
        return True
    if not isinstance(variables, Seq) or variables.items is not None:
        return False
    made = [leaf.event for _, leaf in alternatives(variables.element) if isinstance(leaf, Obj)]
    return bool(made) and all(any(one is event for event in listed) for one in made)


def _asks_for_trainable(event: Event) -> bool:
    """Whether a collection of the graph is that of the trainable variables."""
    key = event.argument(_COLLECTION)
    return (key.name if isinstance(key, Ref) else key.value if isinstance(key, Const) else "") in _OF_TRAINABLE


def told(
    kinds: Sequence[str], generators: bool = True, notes: Mapping[str, str] = MappingProxyType({}), warm: bool = False
) -> str:  # fmt: skip
    """What a checkpoint lacks, and what a resumed run does for that, as words of the rule's message.

    ``notes`` say why a kind of state is lost where that is no matter of what is saved; ``warm``: nobody asks to go on.
    """
    names = words(f"the {kind}{f' ({notes[kind]})' if notes.get(kind) else ''}" for kind in kinds)
    lacks = "no state of the random generators" if generators else f"not {names}"
    if generators and kinds:
        lacks += f", nor of {names}"
    changes = [_GENERATORS] if generators else []
    begins = "enough to begin another training with, but a resumed run" if warm else "a resumed run"
    return f"{lacks}: {begins} {words([*changes, *(_CHANGES[kind] for kind in kinds)])}"


def words(parts: Iterable[str]) -> str:
    """``the first, the second and the third``."""
    several = list(parts)
    return " and ".join([", ".join(several[:-1]), several[-1]] if several[1:] else several)


def _kind(made: Event) -> str:
    """What a call makes."""
    return next((kind for kind, names in reversed(_KINDS.items()) if made.name.startswith(names)), "")


def _made_by(event: Event, makers: Mapping[int, Event]) -> Iterator[Event]:
    """The calls that made what a method is called of, of those that make what steps; none where it may be another."""
    found = [makers.get(id(_whole(leaf))) for _, leaf in alternatives(event.receiver)]
    if None not in found:
        yield from (made for made in found if made is not None)


def _whole(part: Value) -> Value:
    """What has a part: ``average`` of ``average.module``."""
    while isinstance(part, Ref) and part.receiver is not None:
        part = part.receiver
    return part


def _is_told_epoch(program: Program, step: Event, made: Event) -> bool:
    """Whether a schedule follows from the epoch that it is told, which a resumed run counts on.

    In PyTorch 2.13 all do that take one, but ``MultiplicativeLR`` (measured: the rates from the middle on).
    """
    if _kind(made) != SCHEDULE or made.name.endswith(_BY_ITSELF) or not step.name.endswith(_STEP):
        return False
    told = step.argument(_EPOCH)
    headers = (header_of(program, number) for number in step.loops)
    counts_on = any(header is not None and header.name in RANGES and not is_fixed(header) for header in headers)
    return counts_on and told is not None and not isinstance(told, Const)


def _remembers(made: Event) -> bool:
    if made.name == _SGD:
        momentum = made.argument(_MOMENTUM)
        return momentum is not None and not (isinstance(momentum, Const) and not momentum.value)
    return _LAST not in made.kwargs
