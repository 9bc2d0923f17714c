"""Objects of libraries that keep a random generator of their own, which no global seed reaches."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Effect, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, by_default, either, is_symbolic, negate, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Value
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging import messages, objects
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.judging.ops.varies import with_options
from d9mlint.python.judging.randomness import no_own_seed
from d9mlint.python.judging.seedings import may_be_seeded
from d9mlint.python.rules.seeds import _own_environments

_ENVIRONMENT = _own_environments.GENERATOR
_DRAWS = "draws from"
_SPACES = "own-spaces"
_PARTS = ("own-actions", "own-shared-actions", "own-observations")
"""Generators of an environment's spaces, which are seeded where it is, beside it."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the call that makes such an object without a seed, or at the first draw of one that is seeded by a method."""
    if program.story.local:
        return
    yield from _own_environments.unseen(program, rule)
    yield from _own_environments.of_classes(program, rule)
    seen: set[tuple[int, str]] = set()
    calls = [event for event in program.effective if _is_own(event) and not event.detached]
    asked = [event for event in calls if messages.asked_for(program, event) != []]
    for event in sorted(asked, key=lambda one: _place(program, one)):
        for effect in event.effects:
            if objects.is_own(effect.creates):
                yield from _made(program, rule, event, effect)
            for stream in effect.draws:
                # (A plain `own` is a generator object itself: entropy-seed judges it where it is made.)
                if objects.is_own(stream) and stream != objects.OWN:
                    yield from _drawn(program, rule, event, effect, stream, seen)


def _place(program: Program, event: Event) -> tuple[bool, int]:
    """First what needs no flag, then what happens first."""
    return by_default(both(*event.guards)) is False, messages.first(program, event)


def _is_own(event: Event) -> bool:
    """Whether a call makes an object with a generator of its own, or draws from one."""
    return any(objects.is_own(effect.creates) or any(map(objects.is_own, effect.draws)) for effect in event.effects)


def _made(program: Program, rule: Rule, event: Event, effect: Effect) -> Iterator[Draft]:
    told = with_options(event, effect)
    absent: Cond = True if effect.seed_argument is None else program.absent(told, effect.seed_argument)
    cond = both(absent, program.holds(told, effect.when))
    if cond is False or not objects.draws_by_parts(event, effect) or objects.handed_to_maker(program, event):
        return
    if objects.seeded_by(program, event, effect.creates) or objects.idle(program, event, effect):
        return
    everywhere = objects.seeded_globally(program, effect.creates)
    if any(one.later for _, one, _ in everywhere):
        return
    before = either(*(given for seeding, _, given in everywhere if seeding.index < event.index))
    cond = both(cond, negate(before))
    late = [Related(e.location, "comes too late for it") for e, _, _ in everywhere if e.index > event.index]
    seeds = _own_environments.Cure(effect.remedy)
    yield from _draft(program, rule, event, seeds, cond, ("makes", effect.creates), late)


def _drawn(
    program: Program, rule: Rule, event: Event, effect: Effect, stream: str, seen: set[tuple[int, str]]
) -> Iterator[Draft]:
    if effect.parts is not None:
        yield from _through(program, rule, event, effect, stream, event.argument(effect.parts), event, seen)
        return
    for maker in made_by(event.receiver):
        handed = objects.handed_over(maker)
        if handed is not None:
            yield from _through(program, rule, event, effect, stream, handed, maker, seen)
        elif not any(one.parts is not None and not one.creates for one in maker.effects):
            yield from _by(program, rule, event, effect, stream, [maker], event, seen)


def _through(
    program: Program, rule: Rule, event: Event, effect: Effect, stream: str, handed: Value | None, at: Event,
    seen: set[tuple[int, str]],
) -> Iterator[Draft]:  # fmt: skip
    """What draws through an environment that it was handed: told where that happens."""
    makers = objects.environments(handed)
    if makers is not None:
        for one in makers or [at]:
            yield from _by(program, rule, event, effect, stream, [one, at], at, seen)


def _by(
    program: Program, rule: Rule, event: Event, effect: Effect, stream: str, makers: list[Event], at: Event,
    seen: set[tuple[int, str]],
) -> Iterator[Draft]:  # fmt: skip
    """An object that draws, made by the first of ``makers``; the others may pass it a seed. Told ``at`` a call."""
    maker = makers[0]
    if (id(maker), stream) in seen or objects.only_for_shapes(program, event):
        return
    if _own_environments.replaced(program, event):
        return
    seen.add((id(maker), stream))
    if any(one.later for _, one, _ in objects.seeded_globally(program, stream)):
        return  # a loader seeds what it is handed
    seedings = [found for one in makers for found in objects.seeded_by(program, one, stream)]
    cond = both(_own_seed_absent(program, event, effect), program.holds(event, effect.when))
    fixed = objects.fixed_before(program, seedings, event)
    cond = both(cond, *(objects.unseeded_when_made(one) for one in makers), negate(fixed))
    if objects.may_be_seeded_by(program, maker, event, makers) or any(one.star for one in makers[1:]):
        return
    if _made_again_with_seed(program, maker, event, stream):
        return
    drawn = messages.first(program, event)
    after = [e for e, given in seedings if messages.first(program, e) > drawn and given is not False and not e.star]
    late = [Related(e.location, "seeds it, after that") for e in after]
    made = [Related(maker.location, "made here")] if maker is not at else []
    lost = _own_environments.swallowed(program, maker) if stream == _ENVIRONMENT else None
    seeds = _own_environments.cure(event, maker, effect.remedy) if lost is None else _own_environments.Cure(lost.remedy)
    if at is event and not seeds.part:
        at = _own_environments.asked(event)
    does = (_DRAWS, _cause(program, stream, makers, seeds))
    yield from _draft(program, rule, at, seeds, cond, does, [*made, *late], lost)


def _cause(program: Program, stream: str, makers: list[Event], seeds: _own_environments.Cure) -> str:
    """An environment without a seed, with the spaces of it; those of one that has a seed are another matter."""
    if stream not in (_ENVIRONMENT, *_PARTS):
        return stream
    beside = (given for one in makers for _, given in objects.seeded_by(program, one, _ENVIRONMENT))
    seeded = stream in _PARTS and any(given is not False for given in beside)
    return f"{_SPACES if seeded else _ENVIRONMENT}/{stream}{seeds.part}"


def _own_seed_absent(program: Program, event: Event, effect: Effect) -> Cond:
    """When a draw is given no seed of its own; a worker may be sent one."""
    value = None if effect.own_seed is None else event.argument(effect.own_seed)
    sent = [messages.given(value, one) for one in messages.asked_for(program, event) or ()]
    return (
        either(*(x is None or is_none(x) for x in sent)) if value is not None and sent else no_own_seed(event, effect)
    )


def _made_again_with_seed(program: Program, maker: Event, draw: Event, stream: str) -> bool:
    """Whether a generator takes the place of one that was made by the same line before it had a seed.

    An environment's constructor calls `self.seed()`, and whoever made it `env.seed(1)`.
    """
    if not any(stream in effect.seeds for effect in maker.effects):
        return False
    return any(
        event.location == maker.location and event.index > draw.index and given is not False
        for event, effect in objects.seeders(program, stream)
        for given in [objects.given(program, event, effect)]
    )


def _draft(
    program: Program,
    rule: Rule,
    event: Event,
    seeds: _own_environments.Cure,
    cond: Cond,
    does: tuple[str, str],
    related: list[Related],
    lost: _own_environments.Swallowed | None = None,
) -> Iterator[Draft]:
    if cond is False or truth(cond, event.guards) is False or by_default(cond) is False:
        return
    # One that draws has a seed from none but those who are handed it; of those the caller has asked.
    seeded = program.story.truncated if does[0] == _DRAWS else may_be_seeded(program, event)
    sure = is_symbolic(cond) and not seeded
    yield draft(
        program,
        rule, event, cond=cond, related=related if lost is None else [lost.related, *related],
        remedy=seeds.remedy, verb=does[0],
        besides="" if lost is None else f", and `{lost.of}.seed` does nothing",
        cause=does[1],
        name=".".join(event.raw.split(".")[-2:]),
        confidence=rule.confidence if sure else lower(lower(rule.confidence)),
    )  # fmt: skip
