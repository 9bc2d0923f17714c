"""Draws in the worker processes of a data loader, whose seeds come from a generator that nothing seeds."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import GENERATORS, Related, Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.judging.randomness import Uncovered, uncovered
from d9mlint.python.judging.seedings import seedings
from d9mlint.python.judging.wording import words_of
from d9mlint.python.rules.seeds._unseeded import on_any_way


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """For each loader, at the first draw of each condition."""
    if program.story.local:
        return
    groups: dict[tuple[object, ...], list[Uncovered]] = {}
    for found in uncovered(program):
        if found.draw.worker:
            key = (id(found.draw.event.loader), words_of(found.cond, excluded=found.draw.event.excluded))
            groups.setdefault(key, []).append(found)
    for group in groups.values():
        yield _draft(program, rule, group)


def _draft(program: Program, rule: Rule, group: list[Uncovered]) -> Draft:
    event = group[0].draw.event
    related = [Related(event.loader.location, "this loader starts the workers")] if event.loader else []
    drawn = {g for u in group for effect in u.draw.event.effects for g in effect.draws}
    useless = [s for s in seedings(program) if drawn & set(s.generators) and not s.event.detached]
    related += [Related(s.event.location, "seeds the main process; workers seed themselves") for s in useless]
    if group[0].late is not None:
        related.append(Related(group[0].late.event.location, f"seeds {GENERATORS['torch']}, too late for this"))
    related += [Related(u.draw.event.location, "draws in the workers, too") for u in group[1:]]
    at, there = on_any_way(group[0], group)
    return draft(
        program,
        rule, at, cond=there, related=dict.fromkeys(related),
        confidence=rule.confidence if group[0].sure else lower(lower(rule.confidence)), name=event.raw,
        late="; the seed comes later" if group[0].late else "", cause=f"{rule.cause}/torch",
    )  # fmt: skip
