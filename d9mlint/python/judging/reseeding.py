"""Generator objects that get another seed after they are made: in each worker, or for the time of a draw."""

from __future__ import annotations

from d9mlint.python.domain.conditions import Cond, both, either, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.tellable import loosened
from d9mlint.python.domain.values import Const
from d9mlint.python.frameworks.tensorflow.pipelines import OWN_GENERATORS
from d9mlint.python.frameworks.torch import loading
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.files.places import DRAWN
from d9mlint.python.judging.flows import changes_nothing

_HANDLING = frozenset(
    {"manual_seed", "seed", "set_state", "get_state", "spawn", "setstate", "getstate", "initial_seed"}
)  # fmt: skip
"""Methods of generators that draw nothing."""
_SEEDS = (".seed", ".manual_seed")
_RESTORES = (".set_state", ".setstate")


def handles(event: Event) -> bool:
    """Whether a method of a generator sees to its seed or its state, and draws nothing."""
    return event.name.rpartition(".")[2] in _HANDLING


def draws_unseeded(program: Program, made: Event) -> Cond:
    """When a generator that is made without a seed draws before it gets one, as far as that can be told.

    True where it is not seen to be given any.
    """
    handled = program.once("handled-generators", _handled).get(id(made), [])
    draws = [event for event in handled if not handles(event)]
    if not draws or not any(_gives_seed(event) for event in handled):
        return True
    return either(*(loosened(both(*draw.guards, unseeded(program, draw, made))) for draw in draws))


def decides(program: Program, made: Event) -> bool:
    """Whether anything hangs on the numbers of a generator that a call makes: all of them may only make a port."""
    handled = program.once("handled-generators", _handled).get(id(made), [])
    draws = [event for event in handled if not handles(event)]
    return not draws or not all(changes_nothing(program, draw) for draw in draws)


def unseeded(program: Program, draw: Event, made: Event, within: tuple[str, ...] = ()) -> Cond:
    """When no seed is in force where a generator draws (``within``: none that is given in one of these contexts).

    One that is put back is in force no more: ``state = rng.get_state(); rng.seed(n); ...; rng.set_state(state)``.
    """
    in_force: list[Event] = []
    for event in program.once("handled-generators", _handled).get(id(made), ()):
        if event.index >= draw.index:
            break
        if not _reaches(event, draw):
            continue
        if event.name.endswith(_RESTORES):
            del in_force[-1:]
        elif _gives_seed(event):
            in_force.append(event)
    found = [event for event in in_force if not within or (event.inside(*within) and not _is_constant(event))]
    return both(*(negate(_further(event, draw)) for event in found))


def _reaches(seed: Event, draw: Event) -> bool:
    """Whether what a call does to a generator is done where a draw is made: in the same worker, if in any."""
    where = loading.context(seed)
    same = not where or (seed.loader is draw.loader and where == loading.context(draw))
    return same and set(seed.contexts) <= set(draw.contexts) and not seed.detached and seed.meets(draw)


def _further(seed: Event, draw: Event) -> Cond:
    """What has to hold for a seed besides what holds for the draw, as far as that can be told."""
    return loosened(both(*(cond for cond in seed.guards if cond not in draw.guards)))


def _gives_seed(event: Event) -> bool:
    """Whether a call gives a generator a seed that is the same in each run, as far as can be told."""
    if not event.name.endswith(_SEEDS) or not event.args or is_none(event.args[0]) is not False:
        return False
    return taint(event.args[:1])[0].isdisjoint(DRAWN)


def _is_constant(seed: Event) -> bool:
    """Whether a call gives the same seed wherever it is done: each worker then draws the same numbers."""
    return bool(seed.args) and isinstance(seed.args[0], Const)


def _handled(program: Program) -> dict[int, list[Event]]:
    """The calls of the methods of generators, in order, by the ``id`` of the call that made them."""
    found: dict[int, list[Event]] = {}
    for event in program.beginning(OWN_GENERATORS, "call"):
        for made in {id(made): made for made in made_by(event.receiver)}:
            found.setdefault(made, []).append(event)
    return found
