"""NumPy draws that are the same in each worker of a data loader, or seeds that make each epoch the same."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import both, either
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.frameworks.torch import loading
from d9mlint.python.frameworks.torch.loaders import LOADER, WORKER
from d9mlint.python.interpreter.program import Program, matches
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.files.places import DRAWN

_GENERATORS = ("python", "numpy", "torch")
_PERSISTENT = Argument(None, "persistent_workers")
_VARYING = DRAWN | {loading.DERIVED}
"""Origins of seeds that are others in each epoch."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each seed, or each loader without one, whose workers draw the same numbers again."""
    found: dict[int, tuple[Event, list[Event]]] = {}
    for event in program.events:
        if event.kind == "call" and event.loader is not None and loading.context(event) == WORKER:
            for generator in _drawn(event):
                at = _cause(program, event, generator)
                if at is not None:
                    found.setdefault(at.index, (at, []))[1].append(event)
    for at, draws in found.values():
        yield _draft(program, rule, at, draws)


def _drawn(event: Event) -> list[str]:
    return [g for effect in event.effects for g in effect.draws if g in _GENERATORS]


def _cause(program: Program, draw: Event, generator: str) -> Event | None:
    """The loader whose workers copy NumPy's state, or the call that seeds each worker anew with the same number."""
    loader = draw.loader
    if loader is None or draw.detached or matches(loader.argument(_PERSISTENT), True) is not False:
        return None
    seed = loading.local_seed(program, draw, generator)
    if seed is None:
        copied = generator == "numpy" and not loading.seeds_numpy(program) and loading.init_known(loader)
        return loader if copied else None
    init = seed.value is not None and not _VARYING & taint([seed.value])[0]
    return seed.event if init and seed.event.func is not None and _in_init(seed.event, loader) else None


def _in_init(seed: Event, loader: Event) -> bool:
    """Whether a call is made by the loader's ``worker_init_fn``, once a worker and epoch."""
    return seed.func is not None and any(seed.func is func for func in loading.init_functions(loader))


def _moved_on(program: Program, draw: Event) -> bool:
    """Whether the main process draws from NumPy's state, too, in a loop around the passes over the loader of a draw."""
    around = {*draw.loops}
    own = (e for e in program.events if e.kind == "call" and loading.context(e) in ("", LOADER) and not e.detached)
    return any("numpy" in _drawn(e) and around & {*e.loops} and e.meets(draw) for e in own)


def _draft(program: Program, rule: Rule, at: Event, draws: list[Event]) -> Draft:
    draw = draws[0]
    if at is draw.loader:
        what = "the workers of this `DataLoader` start with copies of NumPy's state"
        again = "gives the same numbers in each worker"
        again += "" if _moved_on(program, draw) else " and in each epoch"
    else:
        what, again = f"`{at.raw}` gives each worker the same seed at the start of each epoch", "repeats its numbers"
    return draft(
        program, rule, at, cond=either(*(both(*one.guards) for one in draws)),
        related=[Related(draw.location, "draws here")], what=what, name=draw.raw, again=again,
    )  # fmt: skip
