"""Predictions of a PyTorch model that is left in training mode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Value, alternatives
from d9mlint.python.frameworks.torch.parameters.frozen import made_inside
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.calls import INFERENCE
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.seedings import seedings

_DROPOUT, _CALLED = re.compile(r"torch\.nn\.(\w*Dropout\w*)"), ".__call__"
_LOADS = (".load_state_dict", "torch.load", "torch.hub.load_state_dict_from_url")
_TRAINERS = ("lightning", "pytorch_lightning", "accelerate", "transformers", "ignite", "fastai", "monai")
_SAYS_MODE, _SAYS_TRAIN = re.compile(r"\.(eval|train)$"), re.compile(r"\.train$")
_STEPS = re.compile(r"\.(requires_grad_|step|backward)$")
_RECURRENT = re.compile(r"torch\.nn\.(GRU|LSTM|RNN)\(\)\.__call__$")
_P, _BETWEEN = Argument(0, "p"), Argument(5, "dropout")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first dropout that runs where a program only predicts, and nothing sets a mode."""
    if "torch" not in frameworks_of(program) or program.story.truncated or program.imports(*_TRAINERS):
        return
    said = program.named(lambda name: _SAYS_MODE.search(f".{name}"), "call", "unresolved")
    modes = [*said, *program.ending(".training", "set")]
    trains = program.trains or bool(_steps(program))
    found = _of_evaluation(program, modes) if trains else _of_weights(program, 0, modes)
    found = found or (_of_loaded(program, modes) if trains else None)
    if found is not None:
        event, related, why = found
        name = _DROPOUT.search(event.name)
        yield draft(program, rule, event, name=name.group(1) if name else _called(event), related=[related], why=why)


_Found = tuple[Event, Related, str]


def _of_weights(program: Program, since: int, modes: Sequence[Event]) -> _Found | None:
    """Where weights are loaded and nothing is trained."""
    calls = [e for e in program.events[since:] if e.kind == "call" and e.certain]
    loaded = next((e for e in calls if e.name.endswith(_LOADS)), None)
    event = next((e for e in calls if _drops(e)), None)
    if modes or loaded is None or event is None:
        return None
    return event, Related(loaded.location, "the weights are loaded here"), "weights are loaded and nothing is trained"


def _of_loaded(program: Program, modes: Sequence[Event]) -> _Found | None:
    """Where a network gets weights after the training, and is used as it is; where a seed holds, each run is alike."""
    if any(s.event.certain and "torch" in s.generators for s in seedings(program)):
        return None
    last = max((e.index for e in (*_steps(program), *(e for e in program.events if e.trains))), default=0)
    calls = [e for e in program.events[last:] if e.kind == "call" and e.certain]
    for load in calls:
        own = _objects(load.receiver)
        if not load.name.endswith(_LOADS[0]) or any(e.index > last or own & _objects(e.receiver) for e in modes):
            continue
        network = {id(made) for made in made_inside(load.receiver)}
        runs = (e for e in calls if e.index > load.index and _drops(e))
        event = next((e for e in runs if network & {id(made) for made in made_inside(e.receiver)}), None)
        if event is not None:
            related = Related(load.location, "the weights are loaded here")
            return event, related, "weights are loaded after the training"
    return None


def _objects(value: Value | None) -> set[int]:
    """What tells a network from others of its class."""
    return {id(leaf.event if isinstance(leaf, Obj) else leaf) for _, leaf in alternatives(value)}


def _of_evaluation(program: Program, modes: Sequence[Event]) -> _Found | None:
    """Where a function evaluates by its name, in a program that never leaves training mode."""
    if any(not _SAYS_TRAIN.search(e.name) or e.args for e in modes) or any(
        s.event.certain and "torch" in s.generators for s in seedings(program)
    ):
        return None
    if any(one.inside(INFERENCE) for one in program.trains):
        return None
    for event in program.events:
        if event.kind == "call" and event.certain and event.inside(INFERENCE) and _drops(event) and event.stack:
            return event, Related(event.stack[-1], "evaluates here"), "this evaluates"
    return None


def _called(event: Event) -> str:
    return event.raw.replace("().__call__", "").replace("()", "")


def _steps(program: Program) -> list[Event]:
    """The calls that are a part of a training by their names."""
    return program.named(
        lambda name: _STEPS.search(f".{name}") or name.startswith("torch.optim."), "call", "unresolved"
    )


def _drops(event: Event) -> bool:
    """Whether a dropout layer runs whose rate is not 0, or a recurrent one that drops out between its layers."""
    layers = [
        leaf.event for _, leaf in alternatives(event.receiver) if isinstance(leaf, Obj) and leaf.event is not None
    ]
    if _RECURRENT.match(event.name):
        between = [layer.argument(_BETWEEN) for layer in layers]
        return any(rate is not None and not _is_zero(rate) for rate in between)
    if event.name.endswith(_CALLED) and not event.name.startswith("torch.nn.Module."):
        layers = [made for made in made_inside(event.receiver) if _DROPOUT.match(made.name)]
        return bool(layers) and not all(_is_zero(layer.argument(_P)) for layer in layers)
    return False


def _is_zero(rate: Value | None) -> bool:
    return isinstance(rate, Const) and rate.value == 0
