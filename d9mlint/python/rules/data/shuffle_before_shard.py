"""Shards taken out of an order that differs from worker to worker."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import both
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Const
from d9mlint.python.frameworks.tensorflow.pipelines import DATASET, upstream
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.judging.randomness import Uncovered, uncovered
from d9mlint.python.judging.seedings import seedings

_SHUFFLES = (f"{DATASET}.shuffle", f"{DATASET}.list_files")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each ``shard`` after a shuffle that has no seed, or one that depends on the rank."""
    shards = [e for e in program.calls(f"{DATASET}.shard") if not all(isinstance(a, Const) for a in _split(e))]
    if not shards or program.story.local:
        return
    unseeded = {u.draw.event.index: u for u in uncovered(program)}
    for event in shards:
        for shuffle in upstream(program, event, *_SHUFFLES):
            found = _draft(program, rule, event, shuffle, unseeded.get(shuffle.index))
            if found is not None:
                yield found
                break


def _split(event: Event) -> tuple[object, ...]:
    return (*event.args, *event.kwargs.values())


def _draft(program: Program, rule: Rule, shard: Event, shuffle: Event, free: Uncovered | None) -> Draft | None:
    name = shuffle.name.rpartition(".")[2]
    related = [Related(shuffle.location, "shuffles here")]
    if free is not None:
        sure = rule.confidence if free.sure else lower(lower(rule.confidence))
        why = "without a seed"
        return draft(program, rule, shard, cond=free.cond, related=related, confidence=sure, name=name, how=why)
    seed = shuffle.argument(Argument(2 if name == "list_files" else 1, "seed"))
    if program.absent(shuffle, Argument(2 if name == "list_files" else 1, "seed")) is True:
        before = [s for s in seedings(program) if "tensorflow" in s.generators and s.event.index < shuffle.index]
        if not before or before[-1].event.detached:
            return None
        seed = before[-1].value
        related.append(Related(before[-1].event.location, "seeds it, differently on each rank"))
    if seed is None or "rank" not in taint([seed])[0]:
        return None
    if name == "list_files" and program.holds(shuffle, {"shuffle@1": False}) is True:
        return None
    return draft(
        program,
        rule,
        shard,
        cond=both(*shuffle.guards),
        related=related,
        name=name,
        how="with a seed that depends on the rank",
    )
