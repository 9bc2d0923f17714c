"""Agents of Stable-Baselines3 that learn on from a file: no buffer and no generator is in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.conditions import both, by_default
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const
from d9mlint.python.frameworks.agents import BUFFER_LOADS, has_buffer, learning, loads, saves
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.files.kept import besides_files
from d9mlint.python.judging.seedings import seedings
from d9mlint.python.rules.seeds.resumes.lost import BUFFER, told
from d9mlint.python.rules.seeds.resumes.resuming import draws_on, from_own, places, resumes

_COUNTS_ON = Argument(None, "reset_num_timesteps")
_SEED = (
    "give it another seed for each part of the training: `model.set_random_seed(seed + model.num_timesteps)` after "
    "`load` (states of generators are not part of the file)"
)
_KEEP = "save and load the replay buffer, too: `model.save_replay_buffer(path)`, `model.load_replay_buffer(path)`"


def of_agents(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first call that saves an agent which is loaded elsewhere to learn on."""
    for load in loads(program):
        after = [learn for learn in learning(program, load) if learn.meets(load)]
        kept = saves(program, load) if after else []
        met = sorted((e for e in kept if e.meets(load)), key=lambda e: not e.name.endswith(".save"))
        saved = next(iter(met), None)
        if saved is None or not _goes_on(load, after, kept) or _is_of_this_run(load, kept):
            continue
        learn = after[0]
        seeds = [s.event for s in seedings(program) if "torch" in s.generators]
        seeds += program.calls(f"{load.name}().set_random_seed")
        seeded = any(load.index < e.index < learn.index and e.meets(load, learn) for e in seeds)
        also = (BUFFER,) if has_buffer(load) and not _has_own(program, load) else ()
        if seeded and not also:
            continue
        related = places(load, None) if seeded else [*places(load, None), draws_on(learn)]
        remedy = "; ".join([*([_KEEP] if also else []), *([] if seeded else [_SEED])])
        there = replace(saved, guards=(besides_files(saved.guards),))
        yield draft(
            program, rule, there, cond=besides_files(load.guards), related=related, remedy=remedy,
            holds="weights and optimizers", lacks=told(also, not seeded),
        )  # fmt: skip
        return


def _goes_on(load: Event, after: list[Event], kept: list[Event]) -> bool:
    """Whether the agent goes on with the training that it was saved in, as far as words, settings and paths tell."""
    counts = (learn.argument(_COUNTS_ON) for learn in after)
    on = any(isinstance(value, Const) and value.value is False for value in counts)
    return on or resumes(load) or from_own(load, kept) or by_default(both(*load.guards)) is False


def _is_of_this_run(load: Event, kept: list[Event]) -> bool:
    """Whether what is loaded was saved by the same run before: two runs do the same then."""
    return from_own(load, [e for e in kept if e.index < load.index and e.meets(load)])


def _has_own(program: Program, load: Event) -> bool:
    """Whether the program fills a replay buffer from a file."""
    return any(e.index > load.index and not e.detached for e in program.ending(BUFFER_LOADS))
