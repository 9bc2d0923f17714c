"""Checkpoints to resume from that hold the optimizer's state, but no state of a random generator."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Dict, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.randomness import Draw, draws
from d9mlint.python.judging.seedings import seedings

_SAVES = ("torch.save",)
_STATES = (
    "torch.get_rng_state", "torch.set_rng_state", "torch.cuda.get_rng_state", "torch.cuda.get_rng_state_all",
    "torch.cuda.set_rng_state", "torch.cuda.set_rng_state_all", "torch.Generator.get_state",
    "torch.Generator.set_state", "numpy.random.get_state", "numpy.random.set_state", "random.getstate",
    "random.setstate",
)  # fmt: skip
_OPTIMIZER = "torch.optim."
_STEP = ".step"
_ENVIRONMENTS = ("gym.", "gymnasium.", "env.")
_KEY = "optim"
_RANDOM = ("rng", "random", "generator", "sampler", "loader", "seed")
"""Words in a key of a checkpoint that say that random state may be in it."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first such checkpoint of a program that is seeded, draws while it trains, and loads the optimizer."""
    if program.story.local or program.story.truncated or program.calls(*_STATES):
        return
    loads = [e for e in program.events if e.kind == "call" and _loads_optimizer(e) and not e.detached]
    if not loads or not program.trains or not any(not s.event.detached for s in seedings(program)):
        return
    steps = [e for e in program.events if _steps(e) and e.loops and not e.detached]
    loops = {number for event in steps or program.trains for number in event.loops}  # those that change the weights
    going = (d.event for d in draws(program) if _goes_on(program, d, loads[0]))
    drawn = next((event for event in going if loops.intersection(event.loops)), None)
    saves = [e for e in program.calls(*_SAVES) if not e.detached and _lacks_state(e)]
    if drawn is not None and saves:
        related = [
            Related(loads[0].location, "goes on from a checkpoint here"),
            Related(drawn.location, "draws in the training that goes on"),
        ]
        for saved in saves:  # one place may be got to in several ways; what is told of it holds on each
            if saved.location == saves[0].location:
                yield draft(program, rule, saved, related=related)


def _steps(event: Event) -> bool:
    """Whether a call updates weights; environments have a method of this name, too."""
    return event.kind == "call" and event.name.endswith(_STEP) and not event.name.startswith(_ENVIRONMENTS)


def _loads_optimizer(event: Event) -> bool:
    return event.name.startswith(_OPTIMIZER) and event.name.endswith(".load_state_dict")


def _goes_on(program: Program, draw: Draw, load: Event) -> bool:
    """Whether a draw comes after ``load`` and is not seeded anew in between (as by the number of the epoch)."""
    if draw.event.detached or draw.event.index < load.index:
        return False
    between = (s for s in seedings(program) if load.index < s.event.index < draw.event.index)
    return not any(draw.generator in s.generators for s in between)


def _lacks_state(event: Event) -> bool:
    """Whether a dict with an optimizer's state, and nothing about random state, is saved."""
    saved = event.args[0] if event.args else event.kwargs.get("obj")
    return any(isinstance(leaf, Dict) and _names_optimizer(leaf) for _, leaf in alternatives(saved))


def _names_optimizer(saved: Dict) -> bool:
    keys = [str(key).lower() for key in saved.items]
    if saved.open or any(word in key for key in keys for word in _RANDOM):
        return False
    return any(_KEY in key for key in keys)
