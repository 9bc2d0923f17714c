"""Seeds made from something that differs in each run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either, is_symbolic, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Const, FlagValue, Value, alternatives
from d9mlint.python.frameworks.jax.modules import only_initializes
from d9mlint.python.interpreter.library.environment import PROCESS
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.objects import is_own
from d9mlint.python.judging.processes import of_loader
from d9mlint.python.judging.randomness import draws
from d9mlint.python.judging.reseeding import decides
from d9mlint.python.judging.seedings import reaches, seedings

_ITSELF = "a number that it draws itself"


def _always(sources: tuple[Event, ...]) -> Cond:
    return True


def check(
    program: Program, rule: Rule, origins: Mapping[str, str], when: Callable[[tuple[Event, ...]], Cond] = _always,
    sure: Callable[[tuple[Event, ...]], bool] = bool,
) -> Iterator[Draft]:  # fmt: skip
    """At each seeding whose value comes from one of ``origins`` (origin -> how to call it).

    When it varies, and whether that is sure, is up to the events that it comes from. Seeds of one value are one cause;
    of several generators that get it those that nothing is drawn from say nothing more. Nor does one that is seeded
    for nothing.
    """
    varying = (one for event in program.effective for one in _varying(program, event, origins, when))
    found = [one for one in varying if not only_initializes(one.event)]
    drawn = {draw.generator for draw in draws(program)}
    decisive = {one.cause for one in found if not drawn.isdisjoint(one.generators)}
    for one in found:
        if one.cause in decisive and one.generators and drawn.isdisjoint(one.generators):
            continue
        if one.generators and _for_nothing(program, one):
            continue
        event, sources = one.event, one.sources
        related = [Related(e.location, "the seed comes from here") for e in sources if e.location != event.location]
        yield draft(
            program, rule, event, cond=one.cond, related=related, name=event.raw,
            origin=_ITSELF if one.itself else origins[one.origin],
            remedy=_remedy(event, one.itself),
            confidence="" if sure(sources) else "low", cause=one.cause,
        )  # fmt: skip


def _for_nothing(program: Program, one: _Varying) -> bool:
    """Whether the function that seeds a generator seeds another one as well, and draws are seen of that one alone.

    Where none are seen of either, what draws is out of sight.
    """
    if program.story.truncated or program.story.local:
        return False
    beside = (s for s in seedings(program) if s.event.func is one.event.func and s.event.stack == one.event.stack)
    return not _draws_any(program, one.event, one.generators) and any(
        one.generators.isdisjoint(s.generators) and _draws_any(program, s.event, frozenset(s.generators))
        for s in beside
    )


def _draws_any(program: Program, seed: Event, generators: frozenset[str]) -> bool:
    """Whether one of these generators is drawn from in the process of a seed, or in one that it starts."""
    in_worker = seed.inside(PROCESS)
    return any(
        not generators.isdisjoint((draw.generator, draw.other)) and (draw.event.inside(PROCESS) or not in_worker)
        and (draw.in_process or reaches(seed, draw.event))
        for draw in draws(program)
    )  # fmt: skip


def _remedy(event: Event, itself: bool) -> str:
    """What to do about this seeding; empty where the rule says it: a constant seed, which no worker may have."""
    return of_loader(event) or next((effect.remedy for effect in event.effects if itself and effect.remedy), "")


class _Varying(NamedTuple):
    """A seeding with a value that varies."""

    event: Event
    origin: str
    cond: Cond
    sources: tuple[Event, ...]
    itself: bool
    """The call draws the seed."""
    generators: frozenset[str]
    """Those of the whole program that it seeds; none where it seeds an object."""

    @property
    def cause(self) -> str:
        """Names the value: what is made once seeds all that gets it."""
        made = self.sources[-1] if self.sources and not self.itself else self.event
        return cause_at(self.origin, made)


def cause_at(origin: str, made: Event) -> str:
    """The cause that is the place where a value is made that differs in each run."""
    file = made.location.file.replace("/", ".")  # (a slash begins what of a cause is concerned)
    return f"{origin}-{file}:{made.location.line}:{made.location.column}"


def _varying(
    program: Program, event: Event, origins: Mapping[str, str], when: Callable[[tuple[Event, ...]], Cond]
) -> Iterator[_Varying]:  # fmt: skip
    if not all(decides(program, made) for made in (event, *made_by(event.receiver))):
        return
    for value in _seeds(event):
        found, _, sources = taint([value])
        named = sorted(found & set(origins))
        cond = when(sources)
        if not named or cond is False:
            continue
        itself = _seeds_itself(event, origins)
        if any(e is not event and _takes_seed(e) for e in sources) or (itself and not _decides(program, event)):
            continue  # it is told of the call that draws the seed, or seeds with it, where that decides anything
        wanted = found & set(origins)
        cond = both(cond, _when(value, wanted), _taken(sources, wanted))
        generators = frozenset(g for effect in event.effects for g in effect.seeds if not is_own(g))
        yield _Varying(event, named[0], cond, sources, itself, generators)


def _takes_seed(event: Event) -> bool:
    """Whether a call seeds a generator with what it is given, or with what it draws where it is given nothing."""
    return any(effect.seeds and effect.seed_argument for effect in event.effects)


def _seeds_itself(event: Event, origins: Mapping[str, str]) -> bool:
    """Whether a call seeds generators with what it draws for that itself."""
    return any(effect.seeds and effect.seed_argument and effect.origin in origins for effect in event.effects)


def _decides(program: Program, event: Event) -> bool:
    """Whether a draw depends on the seed that a call draws: no other one is set between the two."""
    generators = {generator for effect in event.effects for generator in effect.seeds}
    others = [s for s in seedings(program) if s.event.index > event.index and _is_other(s.value)]
    return any(
        draw.generator in generators and draw.event.index > event.index and draw.event.meets(event)
        and not any(
            draw.generator in s.generators and s.event.index < draw.event.index
            and both(draw.cond, negate(s.fixes)) is False
            for s in others
        )
        for draw in draws(program)
    )  # fmt: skip


def _is_other(value: Value | None) -> bool:
    """Whether a seed is known to be another one than that which a call has drawn."""
    found = alternatives(value)
    return bool(found) and all(isinstance(leaf, (Const, FlagValue)) for _, leaf in found)


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
