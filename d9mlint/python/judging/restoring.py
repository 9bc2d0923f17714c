"""Seeds that last for a part of the program: a function saves the state of a generator, seeds it and puts it back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import alternatives
from d9mlint.python.interpreter.program import Program

_SAVES = re.compile(r"(.*\.)get_?(rng_)?state(_all)?")
_RESTORES = re.compile(r"(.*\.)set_?(rng_)?state(_all)?")


def lasting(program: Program, seed: Event) -> bool:
    """Whether a call that seeds does so for what follows: False where its function puts back what was before."""
    return id(seed) not in program.once("states-put-back", _put_back)


def of_checkpoints(program: Program, names: Sequence[str]) -> bool:
    """Whether a call of these takes or sets a state other than to put back at once what was before."""
    states = program.calls(*names)
    taken = [event for event in states if _SAVES.fullmatch(event.name)]
    borrowed = {id(one) for event in states for saved in taken if _gives_back(event, saved) for one in (event, saved)}
    return any(id(event) not in borrowed for event in states)


def _gives_back(restores: Event, saves: Event) -> bool:
    """Whether what a call sets is the state that another has taken in the same function."""
    here = (restores.func, restores.stack) == (saves.func, saves.stack)
    given = [leaf for value in restores.args for _, leaf in alternatives(value)]
    return here and saves.result is not None and any(leaf is saves.result for leaf in given)


def _put_back(program: Program) -> frozenset[int]:
    """The ``id`` of each call that seeds between saving a state and restoring it, and of what restores it.

    A function that trains in between is the program as far as anybody can tell.
    """
    found: set[int] = set()
    saved: dict[object, tuple[str, list[Event]]] = {}
    for event in program.events:
        if event.kind != "call" or event.func is None:
            continue
        place = (id(event.func), event.stack)
        saves, restores = _SAVES.fullmatch(event.name), _RESTORES.fullmatch(event.name)
        if saves:
            saved[place] = (saves[1] or "", [])
        elif restores and place in saved and saved[place][0] == restores[1]:
            _, inside = saved.pop(place)
            between = program.events[inside[0].index : event.index] if inside else []
            if not any(one.trains for one in between):
                found.update(id(one) for one in (*inside, event))
        elif place in saved and any(effect.seeds for effect in event.effects):
            saved[place][1].append(event)
    return frozenset(found)
