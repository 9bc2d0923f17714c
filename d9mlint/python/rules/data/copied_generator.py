"""Random generators that each worker of a data loader gets a copy of."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either, flag_test
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, FlagValue, Obj, Value, alternatives
from d9mlint.python.frameworks.tensorflow.pipelines import OWN_GENERATORS
from d9mlint.python.frameworks.torch import loading
from d9mlint.python.frameworks.torch.loaders import NUM_WORKERS, PERHAPS_WORKER, WORKER
from d9mlint.python.interpreter.program import Program, matches
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.judging.reseeding import handles, unseeded

_GENERATOR = Argument(None, "generator")
_PERSISTENT = Argument(None, "persistent_workers")
_COPIED = "they all get the same numbers"
_REPEATED = "the same numbers in each epoch, and in each of several workers"


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first draw from each such generator."""
    seen: set[tuple[int, int]] = set()
    for event in program.events:
        where = loading.context(event)
        if event.kind != "call" or where not in (WORKER, PERHAPS_WORKER) or event.loader is None or event.detached:
            continue
        maker = _maker(event)
        if maker is None or loading.context(maker) == where or (id(event.loader), maker.index) in seen:
            continue
        seen.add((id(event.loader), maker.index))
        repeats = matches(event.loader.argument(_PERSISTENT), True) is False
        several = True if repeats else _several(event.loader)  # one worker has the same numbers in each epoch, too
        several = both(several, unseeded(program, event, maker, within=(where,)))
        if several is False:
            continue
        yield draft(
            program,
            rule, event, cond=both(*maker.guards, several), name=maker.raw, same=_REPEATED if repeats else _COPIED,
            severity=_severity(maker), confidence=rule.confidence if where == WORKER else lower(rule.confidence),
            related=[Related(maker.location, "the generator"), Related(event.loader.location, "the loader")],
        )  # fmt: skip


def _severity(maker: Event) -> str:
    """Numbers of a generator with a seed of its own are the same in each run, however often they are drawn."""
    seeds = [*maker.args, *maker.kwargs.values()]
    leaves = [leaf for one in seeds for _, leaf in alternatives(one)]
    fixed = [type(_default(leaf)) is int for leaf in leaves]
    return "info" if fixed and all(fixed) else ""


def _default(seed: Value) -> object:
    """What a seed is where nobody asks for another."""
    return seed.flag.default if isinstance(seed, FlagValue) else seed.value if isinstance(seed, Const) else None


def _several(loader: Event) -> Cond:
    """When a loader has more than one worker; a number that is not known may be any."""
    found: list[Cond] = []
    for cond, leaf in alternatives(loader.argument(NUM_WORKERS)):
        if isinstance(leaf, FlagValue):
            found.append(both(cond, flag_test(leaf.flag, ">", 1)))
        else:
            found.append(both(cond, not isinstance(leaf, Const) or bool(leaf.value != 1)))
    return either(*found)


def _maker(event: Event) -> Event | None:
    """The call that made the generator which a call draws from."""
    if event.name.startswith(OWN_GENERATORS):
        return None if handles(event) else _made(event.receiver)
    return _made(event.argument(_GENERATOR)) if any(x.draws for x in event.effects) else None


def _made(value: Value | None) -> Event | None:
    made = [leaf.event for _, leaf in alternatives(value) if isinstance(leaf, Obj)]
    return made[0] if len(made) == 1 else None
