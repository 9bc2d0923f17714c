"""Predictions of a model of PyTorch or Paddle that is left in training mode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either, negate, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Value, alternatives
from d9mlint.python.frameworks.torch.parameters.frozen import made_inside
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.calls import INFERENCE
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.seedings import seedings

_DROPOUT, _CALLED = re.compile(r"(?:torch|paddle)\.nn\.(\w*Dropout\w*)"), ".__call__"
_FILLS = (".load_state_dict", ".set_state_dict", ".set_dict")
_LOADS = (*_FILLS, "torch.load", "torch.hub.load_state_dict_from_url", "paddle.load")
_PRETRAINED = re.compile(r"paddlenlp\.transformers\.\w+(?<!Tokenizer)\.from_pretrained")
"""Calls that make a network which drops out, with its weights, and leave it in training mode."""
_TRAINERS = ("lightning", "pytorch_lightning", "accelerate", "transformers", "ignite", "fastai", "monai")
_SAYS_MODE, _SAYS_TRAIN = re.compile(r"\.(eval|train)$"), re.compile(r"\.train$")
_STEPS = re.compile(r"\.(requires_grad_|step|backward)$")
_RECURRENT = re.compile(r"torch\.nn\.(GRU|LSTM|RNN)\(\)\.__call__$")
_P, _BETWEEN = Argument(0, "p"), Argument(5, "dropout")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first dropout that runs where a program only predicts, and nothing sets a mode."""
    of_any = "torch" in frameworks_of(program) or program.imports("paddle")
    if not of_any or program.story.truncated or program.imports(*_TRAINERS):
        return
    said = program.named(lambda name: _SAYS_MODE.search(f".{name}"), "call", "unresolved")
    modes = [*said, *program.ending(".training", "set")]
    trains = any(not event.detached for event in (*program.trains, *_steps(program)))
    found = _of_evaluation(program, modes) if trains else _of_weights(program, modes)
    found = found or (_of_loaded(program, modes) if trains else None)
    if found is not None:
        event, related, why = found
        name = _DROPOUT.search(event.name)
        yield draft(
            program, rule, event, cond=negate(_seeded(program, event)) if trains else True,
            name=name.group(1) if name else _called(event), related=[related], why=why,
        )  # fmt: skip


_Found = tuple[Event, Related, str]


def _seeded(program: Program, event: Event) -> Cond:
    """When a seed holds where a network is used: each run then drops out alike."""
    generator = "paddle" if event.name.startswith("paddle") else "torch"
    given = (s.event for s in seedings(program) if generator in s.generators and s.event.certain)
    return either(*(both(*seed.guards) for seed in given))


def _of_weights(program: Program, modes: Sequence[Event]) -> _Found | None:
    """Where weights are loaded and nothing is trained."""
    calls = [e for e in program.events if e.kind == "call" and e.certain]
    loaded = next((e for e in calls if e.name.endswith(_LOADS) or _PRETRAINED.fullmatch(e.name)), None)
    event = next((e for e in calls if _drops(e)), None)
    if modes or loaded is None or event is None:
        return None
    return event, Related(loaded.location, "the weights are loaded here"), "weights are loaded and nothing is trained"


def _of_loaded(program: Program, modes: Sequence[Event]) -> _Found | None:
    """Where a network gets weights after the training, and is used as it is, in a run that nothing seeds."""
    last = max((e.index for e in (*_steps(program), *(e for e in program.events if e.trains))), default=0)
    calls = [e for e in program.events[last:] if e.kind == "call" and e.certain]
    for load in calls:
        whole = _PRETRAINED.fullmatch(load.name) is not None
        filled = load.result if whole else load.receiver if load.name.endswith(_FILLS) else None
        if filled is None or any(_may_set(e, filled, load.index if whole else last, whole) for e in modes):
            continue
        network = {id(made) for made in made_inside(filled)}
        runs = (e for e in calls if e.index > load.index and _drops(e))
        event = next((e for e in runs if network & {id(made) for made in made_inside(e.receiver)}), None)
        if event is not None and truth(_seeded(program, event), event.guards) is not True:
            related = Related(load.location, "the weights are loaded here")
            return event, related, "weights are loaded after the training"
    return None


def _may_set(mode: Event, network: Value, since: int, new: bool) -> bool:
    """Whether a mode is set of a network after some event; of one that is ``new`` by then others say nothing."""
    if not new:
        return mode.index > since or bool(_objects(network) & _objects(mode.receiver))
    held = {id(made) for made in made_inside(mode.receiver)}
    return mode.index > since and (not held or bool(_objects(network) & held))


def _objects(value: Value | None) -> set[int]:
    """What tells a network from others of its class."""
    return {id(leaf.event if isinstance(leaf, Obj) else leaf) for _, leaf in alternatives(value)}


def _of_evaluation(program: Program, modes: Sequence[Event]) -> _Found | None:
    """Where a function evaluates by its name, in a program that never leaves training mode."""
    if any(not _SAYS_TRAIN.search(e.name) or e.args for e in modes) or any(
        s.event.certain and not {"torch", "paddle"}.isdisjoint(s.generators) for s in seedings(program)
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
        lambda name: _STEPS.search(f".{name}") or name.startswith(("torch.optim.", "paddle.optimizer.")),
        "call",
        "unresolved",
    )


def _drops(event: Event) -> bool:
    """Whether a dropout layer runs whose rate is not 0, or a recurrent one that drops out between its layers."""
    layers = [
        leaf.event for _, leaf in alternatives(event.receiver) if isinstance(leaf, Obj) and leaf.event is not None
    ]
    if _RECURRENT.match(event.name):
        between = [layer.argument(_BETWEEN) for layer in layers]
        return any(rate is not None and not _is_zero(rate) for rate in between)
    if _PRETRAINED.fullmatch(event.name.removesuffix(f"(){_CALLED}")):
        return event.name.endswith(_CALLED)
    if event.name.endswith(_CALLED) and not event.name.startswith("torch.nn.Module."):
        layers = [made for made in made_inside(event.receiver) if _DROPOUT.match(made.name)]
        return bool(layers) and not all(_is_zero(layer.argument(_P)) for layer in layers)
    return False


def _is_zero(rate: Value | None) -> bool:
    return isinstance(rate, Const) and rate.value == 0
