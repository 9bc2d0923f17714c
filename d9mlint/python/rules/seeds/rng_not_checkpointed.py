"""Checkpoints to resume from that hold weights or the optimizer's state, but no state of a random generator."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, by_default, symbolic_part
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Dict, Inst, Obj, Seq, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.randomness import Draw, draws
from d9mlint.python.judging.seedings import seedings
from d9mlint.python.judging.wording import describe

_SAVES = ("torch.save",)
_STATES = (
    "torch.get_rng_state", "torch.set_rng_state", "torch.cuda.get_rng_state", "torch.cuda.get_rng_state_all",
    "torch.cuda.set_rng_state", "torch.cuda.set_rng_state_all", "torch.Generator.get_state",
    "torch.Generator.set_state", "numpy.random.get_state", "numpy.random.set_state", "random.getstate",
    "random.setstate",
)  # fmt: skip
_OPTIMIZER = "torch.optim."
_LOAD, _STATE, _UNPICKLES = ".load_state_dict", ".state_dict", "torch.load"
_STEP = ".step"
_ENVIRONMENTS = ("gym.", "gymnasium.", "env.")
_KEY = "optim"
_WEIGHTS = ("state", "model", "net", "weight", "generator", "disc", "encoder", "decoder")
"""Words in a key of a checkpoint that say that weights are in it."""
_RANDOM = ("rng", "random", "generator_state", "sampler", "loader", "seed")
"""Words in a key of a checkpoint that say that random state may be in it."""
_RESUMES = re.compile(r"resum|restor|restart|continu|load[-_]?(model|checkpoint|ckpt)", re.IGNORECASE)
"""Words in the condition of a load that say that training goes on from there; pretrained weights are no checkpoint."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first such checkpoint of a program that draws while it trains, and that loads what it has saved."""
    if program.story.local or program.story.truncated or program.calls(*_STATES) or not program.trains:
        return
    saves = [e for e in program.calls(*_SAVES) if not e.detached and _lacks_state(program, e)]
    if not saves:
        return
    steps = [e for e in program.events if _steps(e) and e.loops and not e.detached]
    loops = {number for event in steps or program.trains for number in event.loops}  # those that change the weights
    for load in _loads(program):
        going = (d.event for d in draws(program) if _goes_on(program, d, load))
        drawn = next((event for event in going if loops.intersection(event.loops)), None)
        place = next((e.location for e in saves if both(*e.guards, *load.guards) is not False), None)
        if drawn is not None and place is not None:
            # It may be got to in several ways; what is told of it holds on each.
            yield from _drafts(program, rule, [e for e in saves if e.location == place], load, drawn)
            return


def _drafts(program: Program, rule: Rule, saves: list[Event], load: Event, drawn: Event) -> Iterator[Draft]:
    related = [
        Related(load.location, "goes on from a checkpoint here"),
        Related(drawn.location, "draws in the training that goes on"),
    ]
    holds = "the optimizer" if load.name.startswith(_OPTIMIZER) else "the weights"
    flags = (one for one in load.guards if _RESUMES.search(text := describe(one)) and " or " not in text)
    resumed = symbolic_part(both(*flags))
    for saved in saves:
        yield draft(program, rule, saved, cond=resumed, related=related, holds=holds)


def _steps(event: Event) -> bool:
    """Whether a call updates weights; environments have a method of this name, too."""
    return event.kind == "call" and event.name.endswith(_STEP) and not event.name.startswith(_ENVIRONMENTS)


def _loads(program: Program) -> list[Event]:
    """The calls that load what training goes on from: the optimizer's state first, else weights by a word."""
    found = [e for e in program.events if e.kind == "call" and not e.detached and e.name.endswith((_LOAD, _UNPICKLES))]
    optimizers = [e for e in found if e.name.startswith(_OPTIMIZER)]
    loads = optimizers or [e for e in found if any(_RESUMES.search(describe(one)) for one in e.guards)]
    return sorted(loads, key=lambda load: sum(by_default(one) is False for one in load.guards))


def _goes_on(program: Program, draw: Draw, load: Event) -> bool:
    """Whether a draw comes after ``load`` and is not seeded anew in between (as by the number of the epoch)."""
    if draw.event.detached or draw.event.index < load.index:
        return False
    between = (s for s in seedings(program) if load.index < s.event.index < draw.event.index)
    return not any(draw.generator in s.generators for s in between)


def _lacks_state(program: Program, event: Event) -> bool:
    """Whether weights or an optimizer's state, and nothing about random state, is saved."""
    saved = event.args[0] if event.args else event.kwargs.get("obj")
    return saved is not None and any(_is_checkpoint(program, leaf) for _, leaf in alternatives(saved))


def _is_checkpoint(program: Program, saved: Value) -> bool:
    if isinstance(saved, Dict):
        keys = [str(key).lower() for key in saved.items]
        if saved.open or any(word in key for key in keys for word in _RANDOM):
            return False
        return any(word in key for key in keys for word in (_KEY, *_WEIGHTS))
    if isinstance(saved, Seq):
        parts = [leaf for item in saved.items or () for _, leaf in alternatives(item)]
        return any(isinstance(leaf, Inst) or _is_optimizer(leaf) for leaf in parts)
    return any(made.result is saved for made in program.once("states", _states))


def _states(program: Program) -> list[Event]:
    return [event for event in program.events if event.kind == "call" and event.name.endswith(_STATE)]


def _is_optimizer(leaf: Value) -> bool:
    return isinstance(leaf, Obj) and leaf.type.startswith(_OPTIMIZER)
