"""dropout-at-inference: a program that only predicts leaves a PyTorch model in training mode."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, alternatives
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_DROPOUT = re.compile(r"torch\.nn\.(\w*Dropout\w*)(\(\))?\.__call__$")
_LOADS = (".load_state_dict", "torch.load", "torch.hub.load_state_dict_from_url")
_TRAINERS = ("lightning", "pytorch_lightning", "accelerate", "transformers", "ignite", "fastai", "monai")
_SAYS_MODE = re.compile(r"\.(eval|train|requires_grad_|step|backward)$")
_P = Argument(0, "p")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first dropout that runs, where weights are loaded and nothing trains or sets a mode."""
    if "torch" not in frameworks_of(program) or program.story.truncated or program.trains:
        return
    if program.imports(*_TRAINERS) or any(_trains_or_sets(e) for e in program.events):
        return
    loaded = next((e for e in program.events if e.kind == "call" and e.certain and e.name.endswith(_LOADS)), None)
    if loaded is None:
        return
    event = next((e for e in program.events if e.kind == "call" and e.certain and _drops(e)), None)
    if event is None:
        return
    name = _DROPOUT.search(event.name)
    related = [Related(loaded.location, "the weights are loaded here, so nothing is trained")]
    yield draft(program, rule, event, name=name.group(1) if name else event.raw, related=related)


def _trains_or_sets(event: Event) -> bool:
    if event.kind == "set":
        return event.name.endswith(".training")
    return event.kind in ("call", "unresolved") and bool(
        _SAYS_MODE.search(f".{event.name}") or event.name.startswith("torch.optim.")
    )


def _drops(event: Event) -> bool:
    """Whether a dropout layer runs whose rate is not 0."""
    if not _DROPOUT.search(event.name):
        return False
    for _, leaf in alternatives(event.receiver):
        rate = leaf.event.argument(_P) if isinstance(leaf, Obj) and leaf.event is not None else None
        if isinstance(rate, Const) and rate.value == 0:
            return False
    return True
