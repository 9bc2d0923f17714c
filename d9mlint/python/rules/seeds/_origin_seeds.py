"""Seeds made from something that differs in each run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either, is_symbolic
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft


def _always(sources: tuple[Event, ...]) -> Cond:
    return True


def check(
    program: Program, rule: Rule, origins: Mapping[str, str], when: Callable[[tuple[Event, ...]], Cond] = _always,
    sure: Callable[[tuple[Event, ...]], bool] = bool,
) -> Iterator[Draft]:  # fmt: skip
    """At each seeding whose value comes from one of ``origins`` (origin -> how to call it).

    When it varies, and whether that is sure, is up to the events that it comes from.
    """
    for event in program.events:
        for value in _seeds(event):
            found, _, sources = taint([value])
            named = sorted(found & set(origins))
            cond = when(sources)
            if not named or cond is False:
                continue
            related = [Related(e.location, "the seed comes from here") for e in sources if e.location != event.location]
            wanted = found & set(origins)
            yield draft(
            program,
                rule, event, cond=both(cond, _when(value, wanted), _taken(sources, wanted)), related=related,
                name=event.raw, origin=origins[named[0]], confidence="" if sure(sources) else "low",
            )  # fmt: skip


def _when(value: Value, wanted: frozenset[str]) -> Cond:
    """When the value that is taken comes from one of these origins: often a flag can give another one."""
    cond = either(*(c for c, leaf in alternatives(value) if taint([leaf])[0] & wanted))
    return cond if cond is not False and is_symbolic(cond) else True


def _taken(sources: tuple[Event, ...], wanted: frozenset[str]) -> Cond:
    """When something is taken from one of these origins at all: what was made of it since may have lost the branch."""
    conds: list[Cond] = []
    pending, seen = list(sources), set(map(id, sources))
    while pending:
        event = pending.pop()
        if any(effect.origin in wanted for effect in event.effects):
            conds.append(both(*(guard for guard in event.guards if is_symbolic(guard))))
            continue
        receiver = () if event.receiver is None else (event.receiver,)
        made_of = taint([*event.args, *event.kwargs.values(), *receiver])[2]
        pending += [e for e in made_of if id(e) not in seen]
        seen.update(map(id, made_of))
    return either(*conds) if conds else True


def _seeds(event: Event) -> Iterator[Value]:
    for effect in event.effects:
        argument = effect.seed_argument or effect.own_seed
        if argument is None or argument.keyword.endswith("initializer"):
            continue
        value = event.argument(argument)
        if value is not None:
            yield value
