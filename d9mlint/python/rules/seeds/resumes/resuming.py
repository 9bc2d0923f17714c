"""What the rule on checkpoints asks of a load, in all frameworks: whether training goes on from it, and what draws."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import TypeGuard

from d9mlint.model import Effect, Location, Related, Rule
from d9mlint.python.domain.conditions import conjuncts, literal
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.testkeys import equal_to
from d9mlint.python.domain.values import Unknown, Value
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.files.kept import saved_there
from d9mlint.python.judging.files.places import flags_within
from d9mlint.python.judging.randomness import Draw
from d9mlint.python.judging.seedings import seedings
from d9mlint.python.judging.wording import describe
from d9mlint.python.rules.seeds.resumes.lost import BEST, EPOCH, PLACE, PRECISION, STATISTICS, words

_GRAPH = (
    "tensorflow.nn.dropout", "tensorflow.layers.dropout", "keras.layers.Dropout", "tensorflow.random.",
    "tensorflow.nn.rnn_cell.DropoutWrapper", "tensorflow.contrib.layers.dropout", "tensorflow.contrib.slim.dropout",
    "tensorflow.image.random_", "tensorflow.train.shuffle_batch", "tensorflow.train.string_input_producer",
    "tensorflow.train.slice_input_producer",
)  # fmt: skip
"""What a graph draws in each of its runs, wherever it was made."""
_GOES_ON = re.compile(r"resum|restor|restart|continu", re.IGNORECASE)
"""Words in the name of a function that loads, which say that training goes on from there."""
_TAKES_UP = re.compile(rf"{_GOES_ON.pattern}|snapshot", re.IGNORECASE)
RESUMES = re.compile(rf"{_TAKES_UP.pattern}|load[-_]?(model|checkpoint|ckpt)", re.IGNORECASE)
"""The same in the condition of a load; pretrained weights are no checkpoint."""
_TRAINS_ON = re.compile(r"train[-_]?from", re.IGNORECASE)
"""A flag that names the checkpoint to train from (``-train_from`` of OpenNMT and what was made of it)."""
THERE = re.compile(r"(?<!not )\b(exists|isfile|is_file)\(")
"""What asks in a condition whether a file is there."""
_OF_RANK = "rank"
"""What seeds come from that each of several processes has for itself."""
_FIRST = re.compile(r"rank(\(\))? (==|is) 0\b|\bis_(main|master)(_process)?\b")
_BY_RANK = (
    "save the states of the generators of each rank, in a file of its own, and set them after loading the checkpoint "
    "(the first rank alone saves here, and each has a seed of its own): `torch.get_rng_state()`, "
    "`torch.cuda.get_rng_state()`, `np.random.get_state()` and `random.getstate()`; or seed each epoch from its number "
    "and the rank"
)
_PLAIN = {
    PLACE: "the number of batches that the epoch has done (and skip as many of the same order)",
    EPOCH: "the number of epochs or steps done (and go on from it)",
    BEST: "the best result so far",
    PRECISION: "the weights in 32 bits",
    STATISTICS: "the running statistics that the data are scaled by",
}
"""What is saved of kinds that have no `state_dict()`."""


def resumes(load: Event) -> bool:
    """Whether a condition of a load, or the name of the function that loads, says that training goes on from there."""
    named = (name for path in load.args[:1] for name in flags_within(path))
    return _says(load, RESUMES) or any(map(_TRAINS_ON.search, named))


def takes_up(load: Event) -> bool:
    """The same by words that mean nothing else: a model that is loaded may be one to begin with."""
    return _says(load, _TAKES_UP)


def _says(load: Event, words: re.Pattern[str]) -> bool:
    named = load.func is not None and _GOES_ON.search(load.func.name) is not None
    return named or any(words.search(describe(one)) for one in load.guards)


def feeds(draw: Draw, load: Event, loops: Set[int]) -> bool:
    """Whether a draw is made in the training that goes on from a load: by its graph, in its loop or by ``fit``."""
    weights = draw.implicit and not draw.event.trains and "ropout" not in draw.event.name
    if draw.event.detached or weights or not draw.event.meets(load):
        return False
    if draw.event.name.startswith(_GRAPH):
        return True
    asks = load.name.startswith(("keras.", "tensorflow.estimator."))  # for data, which are drawn then
    fits = asks or draw.event.trains
    return draw.event.index > load.index and bool(fits or loops & {*draw.event.loops})


def seeded_anew(program: Program, draw: Draw, load: Event) -> bool:
    """Whether a draw after a load is seeded anew in between, as by the number of the epoch."""
    between = (s for s in seedings(program) if load.index < s.event.index < draw.event.index)
    return any(draw.generator in s.generators for s in between)


def places(load: Event, drawn: Event | None) -> list[Related]:
    """Where training goes on from, and where it draws then."""
    goes_on = Related(_where(load), "goes on from a checkpoint here")
    return [goes_on] if drawn is None else [goes_on, draws_on(drawn)]


def _where(load: Event) -> Location:
    """Where a load stands; one with which an override calls what it overrides is told where that was called."""
    owner, (base, _, name) = load.func.owner if load.func is not None else None, load.name.rpartition(".")
    overrides = owner is not None and load.func is not None and load.func.name == name and base in owner.external()
    return load.stack[-1] if overrides and load.stack else load.location


def draws_on(drawn: Event) -> Related:
    """Where the training that goes on draws."""
    return Related(drawn.location, "draws in the training that goes on")


def with_states(
    also: Sequence[str], generators: bool, acts: bool, rule: Rule, program: Program, saves: Sequence[Event]
) -> str:  # fmt: skip
    """The remedy where a checkpoint of PyTorch lacks more than generators: first all of it, then how to get at these.

    ``also`` are kinds of what is lost; ``acts``: in an environment, so that there may be networks and data besides.
    """
    states = words(f"the {kind}" for kind in also if kind not in _PLAIN)
    parts = [f"the `state_dict()` of {states}"] if states else []
    parts += [_PLAIN[kind] for kind in also if kind in _PLAIN]
    parts += ["target networks and the replay buffer (if there are any)"] if acts else []
    if not generators:
        return f"save and load {words(parts)}"
    lead = f"save and load {', '.join(parts)} and the states of the generators" if parts else ""
    if _saved_by_one(program, saves) and any(
        _OF_RANK in s.value.origins for s in seedings(program) if _is_made(s.value)
    ):
        return f"{lead}; {_BY_RANK}" if lead else _BY_RANK
    return both_remedies(lead, rule, program, "torch")


def _is_made(value: Value | None) -> TypeGuard[Unknown]:
    return isinstance(value, Unknown)


def _saved_by_one(program: Program, saves: Sequence[Event]) -> bool:
    """Whether the first of several processes saves for all: ``if dist.get_rank() == 0 and epoch % 10 == 0``."""
    for saved in saves:
        tests = (literal(part) for cond in saved.guards for part in conjuncts(cond))
        asked = [one.opaque for one in tests if one is not None and one.opaque is not None and one.outcome is True]
        if any(_FIRST.search(test.text) for test in asked):
            return True
        if any(equal_to(test) == "0" for test in asked) and _asks_for_rank(program, saved):
            return True
    return False


def _asks_for_rank(program: Program, saved: Event) -> bool:
    """Whether its rank is what a process asks for, as often as it saves, to know whether to; there or in the caller."""
    ranks = program.once("ranks-asked-for", lambda one: [e for e in one.events if any(map(_gives_rank, e.effects))])
    before = (e for e in ranks if e.index < saved.index and e.loops == saved.loops and e.guards != saved.guards)
    return any(e.stack in (saved.stack, saved.stack[:-1]) for e in before)


def _gives_rank(effect: Effect) -> bool:
    return effect.origin == _OF_RANK


def both_remedies(more: str, rule: Rule, program: Program, framework: str) -> str:
    """The remedy, and what else is to be done before it; empty where that is nothing."""
    return f"{more}; {rule.remedy(program.target, (framework,))}" if more else ""


def from_own(load: Event, saves: Sequence[Event]) -> bool:
    """Whether what is loaded lies where the program itself saves."""
    return bool(load.args) and saved_there(load.args[0], saves, named=True)
