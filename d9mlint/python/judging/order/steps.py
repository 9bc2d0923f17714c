"""Loops through something in no promised order whose turns train: what one turn leaves, the next goes on from."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice, takewhile
from typing import NamedTuple

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Inst, Obj, Value, alternatives
from d9mlint.python.frameworks.tensorflow.determinism import trainings
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_of, results
from d9mlint.python.judging import flows
from d9mlint.python.judging.randomness import draws
from d9mlint.python.judging.seedings import seedings

TURNS = "turns"
"""The kind of event for a loop through something in no promised order, told in the loop; its argument has the order."""
STEPS, DRAWS = "its training steps", "trainings that draw from one random generator"
NUMBERS = "its random draws, which give each item the next numbers of a seeded generator"
_OPTIMIZERS = (
    "torch.optim.Optimizer.step", "keras.optimizers.Optimizer.apply_gradients", "keras.optimizers.Optimizer.minimize",
)  # fmt: skip
_MODELS = (
    "keras.Model.fit", "keras.Model.fit_generator", "keras.Model.train_on_batch", "transformers.Trainer.train",
    "lightning.pytorch.Trainer.fit", "composer.Trainer.fit", "?.partial_fit",
)  # fmt: skip
_UNSEEN = (
    "optax.apply_updates", "?.apply_gradients", "?.train_on_batch", "?.step",
    "flax.training.train_state.TrainState.apply_gradients",
)  # fmt: skip
"""Steps of something that is not known, or that each step makes anew."""
_STEP, _BACKWARD = "?.step", ".backward"
_SCALED = ".step"
"""Gradient scalers are handed the optimizer: ``scaler.step(optimizer)``."""
_PARAMETERS = (".parameters", ".named_parameters")
_AFRESH = (
    ".load_state_dict", ".load_weights", ".set_weights", ".restore", ".init", ".init_with_output", ".create",
    ".reset_parameters", ".from_pretrained", ".from_config", ".global_variables_initializer", ".deepcopy",
    ".clone_model", ".load_model",
)  # fmt: skip
"""Endings of calls after which weights are not what the turn before has left."""
_MAKES = ("torch.optim.", "torch.nn.", "keras.layers.", "keras.Model", "keras.Sequential", "keras.optimizers.")
"""Beginnings of calls that make networks, their layers and optimizers."""
_LOSS = "Loss"


class Step(NamedTuple):
    """A step of a training in a loop through something in no promised order."""

    event: Event
    order: Value
    sink: str
    sure: bool


def in_loops(program: Program) -> tuple[Step, ...]:
    """Steps whose results depend on the order of a loop around them."""
    return program.once("steps-in-loops", lambda one: tuple(_in_loops(one)))


def _in_loops(program: Program) -> Iterator[Step]:
    for turns in program.events:
        if turns.kind != TURNS:
            continue
        within = list(takewhile(partial(_inside, turns), islice(program.events, turns.index, None)))
        drawn = _draws_on(program, within)
        for event in _steps(program, within):
            known = _carried(program, event, turns, within)
            if known is not False:
                yield Step(event, turns.args[0], STEPS, known is True)
                break
            if any(one.index < event.index for one in drawn):
                yield Step(event, turns.args[0], DRAWS, True)
                break
        else:  # which item gets which numbers depends on the order, if these are not only shown
            taken = next((one for one in drawn if not flows.changes_nothing(program, one)), None)
            if taken is not None:
                yield Step(taken, turns.args[0], NUMBERS, True)


def _inside(turns: Event, event: Event) -> bool:
    return event.loops[: len(turns.loops)] == turns.loops


def _steps(program: Program, within: list[Event]) -> Iterator[Event]:
    graph = {id(e) for e in trainings(program) if e.name.endswith(".run")}
    gradients = any(e.name.endswith(_BACKWARD) for e in within)
    for event in within:
        if event.kind != "call":
            continue
        if event.name in _OPTIMIZERS or event.name in _MODELS or id(event) in graph:
            yield event
        elif event.name == _STEP or (event.name.endswith(_SCALED) and _optimizer(event) is not None):
            if gradients and (not event.args or event.name != _STEP):
                yield event
        elif event.name in _UNSEEN:
            yield event


def _carried(program: Program, step: Event, turns: Event, within: list[Event]) -> bool | None:
    """Whether a step goes on from what the turn before has left; None where what it trains is not known."""
    if any(e.index < step.index and _begins_afresh(e) for e in within):
        return False
    owner = _optimizer(step) or (step.receiver if step.name not in _UNSEEN else None)
    for _, leaf in alternatives(owner):
        made = leaf.event if isinstance(leaf, Obj) else None
        if isinstance(leaf, Inst):
            return leaf.tick < turns.tick
        if made is not None:
            return made.index < turns.index or _of_older(program, made, turns)
    return False if any(e.index < step.index and _makes(e) for e in within) else None


def _begins_afresh(event: Event) -> bool:
    return event.kind in ("call", "unresolved") and event.name.endswith(_AFRESH)


def _makes(event: Event) -> bool:
    return event.kind == "call" and event.name.startswith(_MAKES) and "()" not in event.name and _LOSS not in event.name


def _optimizer(step: Event) -> Value | None:
    """The optimizer that takes a step."""
    if step.name in _OPTIMIZERS:
        return step.receiver
    given = step.args[0] if step.args and step.name.endswith(_SCALED) else None
    return next((leaf for _, leaf in alternatives(given) if isinstance(leaf, Obj) and ".optim" in leaf.type), None)


def _of_older(program: Program, optimizer: Event, turns: Event) -> bool:
    """Whether an optimizer that a turn makes is given the parameters of a network that is older than the loop."""
    makers = results(program)
    for value in optimizer.args[:1]:
        for asked in made_of(value, makers):
            if asked.name.endswith(_PARAMETERS):
                for _, leaf in alternatives(asked.receiver):
                    if isinstance(leaf, Inst):
                        return leaf.tick < turns.tick
                    if isinstance(leaf, Obj) and leaf.event is not None:
                        return leaf.event.index < turns.index
    return False


def _draws_on(program: Program, within: list[Event]) -> list[Event]:
    """The draws of a loop from generators that were seeded before it and not in it: their numbers have an order."""
    inside = {id(e) for e in within}
    drawn = [one for one in draws(program) if id(one.event) in inside]
    if not drawn:
        return []
    seeds = [(one, id(one.event) in inside) for one in seedings(program)]
    seeded = {name for one, often in seeds if not often and one.event.certain for name in one.generators}
    again = {name for one, often in seeds if often for name in one.generators}
    return [one.event for one in drawn if one.generator in seeded - again]
