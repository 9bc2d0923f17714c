"""Seeds made from something that differs in each run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from d9mlint.model import Related, Rule
from d9mlint.python.program import Draft, Program
from d9mlint.python.story import Event
from d9mlint.python.values import Value, taint


def check(program: Program, rule: Rule, origins: Mapping[str, str]) -> Iterator[Draft]:
    """At each seeding whose value comes from one of ``origins`` (origin -> how to call it)."""
    for event in program.events:
        for value in _seeds(event):
            found, _, sources = taint([value])
            named = sorted(found & set(origins))
            if not named:
                continue
            related = [Related(e.location, "the seed comes from here") for e in sources if e.location != event.location]
            yield program.draft(rule, event, related=related, name=event.raw, origin=origins[named[0]])


def _seeds(event: Event) -> Iterator[Value]:
    for effect in event.effects:
        argument = effect.seed_argument or effect.own_seed
        if argument is None or argument.keyword.endswith("initializer"):
            continue
        value = event.argument(argument)
        if value is not None:
            yield value
