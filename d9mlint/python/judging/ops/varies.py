"""What the rules share on calls whose result varies whatever is seeded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from d9mlint.model import Effect, Rule
from d9mlint.python.domain.conditions import both, is_symbolic, stated, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Dict
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.judging.drafts import SOME_VALUE, Draft, draft, lower, value_text


def check(
    program: Program, rule: Rule, reason: str, then: Callable[[Effect], str] = lambda effect: ""
) -> Iterator[Draft]:  # fmt: skip
    """At each call that varies for ``reason``; ``then`` is what comes of it, where the message of the rule says so."""
    for event in program.events:
        if event.kind != "call":
            continue
        for effect in event.effects:
            if effect.varies == reason:
                yield from _one(program, rule, event, effect, then(effect))


def _one(
    program: Program, rule: Rule, event: Event, effect: Effect, then: str
) -> Iterator[Draft]:  # fmt: skip
    told = with_options(event, effect)
    seed = told.kwargs.get(effect.own_seed.keyword) if effect.own_seed is not None else None
    cond = both(program.holds(told, effect.when), True if seed is None else is_none(seed))
    cond = both(cond, stated(effect.where)) if effect.where else cond
    if cond is False or truth(cond, event.guards) is False:
        return
    confidence = rule.confidence if is_symbolic(cond) else lower(lower(rule.confidence))
    yield draft(
            program,
        rule, event, cond=cond, confidence=confidence, remedy=effect.remedy,
        name=event.raw, setting=_setting(told, effect),
        then=then,
    )  # fmt: skip


def with_options(event: Event, effect: Effect) -> Event:
    """The call as if what stands in its dict of options were its keyword arguments."""
    options = event.argument(effect.options) if effect.options is not None else None
    if options is None or isinstance(options, Const):
        return event
    if not isinstance(options, Dict):
        return replace(event, star=True)
    named = {key: value for key, value in options.items.items() if isinstance(key, str)}
    return replace(event, kwargs={**named, **event.kwargs}, star=event.star or options.open)


def _setting(event: Event, effect: Effect) -> str:
    """The settings that decide, as they are given."""
    names = [key.partition("@")[0] for key in effect.when]
    told = [(name, value_text(event.kwargs[name])) for name in names if name in event.kwargs]
    given = [f"`{name}={text}`" if text != SOME_VALUE else f"the `{name}` given" for name, text in told]
    return " and ".join(given) or (f"the default `{names[0]}`" if names else "")
