"""Seeds that last for a part of the program: a function saves the state of a generator, seeds it and puts it back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Dict, Seq, Value, alternatives
from d9mlint.python.interpreter.program import Program

_SAVES = re.compile(r"(.*\.)get_?(rng_)?state(_all)?")
_RESTORES = re.compile(r"(.*\.)set_?(rng_)?state(_all)?")
_WRITES = (".save", ".dump", ".savez", ".save_checkpoint", ".save_state")


def lasting(program: Program, seed: Event) -> bool:
    """Whether a call that seeds does so for what follows: False where its function puts back what was before."""
    return id(seed) not in program.once("states-put-back", _put_back)


def of_checkpoints(program: Program, names: Sequence[str]) -> bool:
    """Whether a call of these takes or sets a state other than to put back at once what was before."""
    states = program.calls(*names)
    taken = [event for event in states if _SAVES.fullmatch(event.name)]
    kept = _written(program) if taken else frozenset()
    pairs = ((event, saved) for event in states for saved in taken if _gives_back(event, saved, kept))
    borrowed = {one.location for pair in pairs for one in pair}
    sets = any(_RESTORES.fullmatch(event.name) for event in states)  # (else a number of it may make a seed)
    return any((sets or id(event.result) in kept) and event.location not in borrowed for event in states)


def _gives_back(restores: Event, saves: Event, kept: frozenset[int]) -> bool:
    """Whether what a call sets is the state that another has taken in the same run, and that is in no file.

    That is so in one function, and where an object keeps it for later: `self.state` of a block that computes again.
    """
    here = (restores.func, restores.stack) == (saves.func, saves.stack)
    given = [leaf for value in restores.args for _, leaf in alternatives(value)]
    back = saves.result is not None and any(leaf is saves.result for leaf in given)
    return back and (here or id(saves.result) not in kept)


def _written(program: Program) -> frozenset[int]:
    """The ``id`` of each value in what is written to files, also in dicts and lists in it."""
    written = program.ending(_WRITES, "call")
    todo = [value for event in written for value in (*event.args, *event.kwargs.values())]
    found: dict[int, Value] = {}
    while todo:
        for _, leaf in alternatives(todo.pop()):
            if id(leaf) in found:
                continue
            found[id(leaf)] = leaf
            if isinstance(leaf, Dict):
                todo.extend(leaf.items.values())
            elif isinstance(leaf, Seq):
                todo.extend(leaf.items or ())
    return frozenset(found)


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
