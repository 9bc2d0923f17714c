"""Seeds that only one of several processes sets, while all of them draw."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import Cond, both, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.decides import decides
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.randomness import Draw, draws
from d9mlint.python.judging.seedings import Seeding, seedings
from d9mlint.python.judging.wording import describe

_ONE = re.compile(
    r"\b(?:\w+[._])?(?:rank|local_rank|world_rank|global_rank|process_index|process_id|get_rank)(?:\(\))? == 0\b"
    r"|\bis_(?:main|master|chief|local_main)(?:_process|_rank|_node)?\b|\bis_global_zero\b|\bis_rank_(?:0|zero)\b"
)
"""Conditions under which only one process does something."""
_NOT = re.compile(r"^not |is false$")
_SHARED = ("torch.nn.parallel.DistributedDataParallel", "torch.distributed.fsdp.")
"""What gives all processes the weights of the first (torch/nn/parallel/distributed.py, ``_sync_module_states``)."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first such seed under each condition of a generator that others draw from, too."""
    if program.story.local:
        return
    told: set[Cond] = set()
    for seeding in seedings(program):
        one = next((guard for guard in seeding.event.guards if _of_one(guard)), None)
        if one is None or one in told or seeding.event.detached:
            continue
        for generator in seeding.generators:
            drawn = _drawn(program, seeding, one, generator)
            if one not in told and drawn is not None:
                told.add(one)
                related = [Related(drawn.event.location, f"draws {decides(drawn)} in all of them")]
                others = tuple(guard for guard in seeding.event.guards if guard is not one)
                yield draft(
                    program, rule, seeding.event.location, cond=both(*others), related=related, raw=seeding.event.raw,
                    only=describe(one),
                )  # fmt: skip


def _of_one(guard: Cond) -> bool:
    words = describe(guard)
    return _ONE.search(words) is not None and not _NOT.search(words) and " or " not in words


def _drawn(program: Program, seeding: Seeding, one: Cond, generator: str) -> Draw | None:
    """A draw of the other processes from the same generator, which nothing else seeds for them."""
    known = [s for s in seedings(program) if generator in s.generators and not s.event.detached]
    if any(both(*s.event.guards, negate(one)) is not False for s in known if s is not seeding):
        return None
    shared = bool(program.beginning(_SHARED, "call"))
    for draw in draws(program):
        weights = draw.implicit and not _drops(draw.event)
        if draw.generator != generator or draw.event.detached or (weights and shared):
            continue
        if draw.event.index > seeding.event.index and both(draw.cond, negate(one)) is not False:
            return draw
    return None


def _drops(event: Event) -> bool:
    return "ropout" in event.name
