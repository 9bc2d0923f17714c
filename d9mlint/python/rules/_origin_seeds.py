"""Seeds made from something that differs in each run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from d9mlint.model import Related, Rule
from d9mlint.python.guards import Cond, both, either
from d9mlint.python.program import Draft, Program
from d9mlint.python.story import Event
from d9mlint.python.values import Value, alternatives, taint
from d9mlint.python.wording import is_symbolic


def _always(sources: tuple[Event, ...]) -> Cond:
    return True


def check(
    program: Program, rule: Rule, origins: Mapping[str, str], when: Callable[[tuple[Event, ...]], Cond] = _always
) -> Iterator[Draft]:
    """At each seeding whose value comes from one of ``origins`` (origin -> how to call it)."""
    for event in program.events:
        for value in _seeds(event):
            found, _, sources = taint([value])
            named = sorted(found & set(origins))
            cond = when(sources)
            if not named or cond is False:
                continue
            related = [Related(e.location, "the seed comes from here") for e in sources if e.location != event.location]
            yield program.draft(rule, event, cond=both(cond, _when(value, found & set(origins))), related=related,
                                name=event.raw, origin=origins[named[0]])  # fmt: skip


def _when(value: Value, wanted: frozenset[str]) -> Cond:
    """When the value that is taken comes from one of these origins: often a flag can give another one."""
    cond = either(*(c for c, leaf in alternatives(value) if taint([leaf])[0] & wanted))
    return cond if cond is not False and is_symbolic(cond) else True


def _seeds(event: Event) -> Iterator[Value]:
    for effect in event.effects:
        argument = effect.seed_argument or effect.own_seed
        if argument is None or argument.keyword.endswith("initializer"):
            continue
        value = event.argument(argument)
        if value is not None:
            yield value
