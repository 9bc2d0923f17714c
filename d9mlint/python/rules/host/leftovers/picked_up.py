"""The newest checkpoint of a folder, which a program sets its own setting for resuming to; its training is not seen.

Trainers that are found by their names in files of settings (``getattr(module, options["model"])``) train and save
where no path through the program is followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import both, by_default
from d9mlint.python.domain.diagrams import simplified
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Value, alternatives
from d9mlint.python.interpreter.marks.bounded import listings
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_of, results
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.judging.files.calls import listed_by
from d9mlint.python.judging.files.places import Place, begins, places
from d9mlint.python.judging.wording import describe
from d9mlint.python.rules.host.leftovers.unasked import PICKS, RESUMES, is_asked, left_over, listed

_TRAINS = re.compile(r"\?\.(\w*(train|optimi[sz]e|fit|learn|backward)\w*|step)", re.IGNORECASE)
_SAVES = re.compile(r"\?\.save\w*", re.IGNORECASE)
"""Methods of what is not known that train, and that save."""
_DEPTH = 6


def picked_up(program: Program, rule: Rule, names: tuple[str, ...]) -> Iterator[Draft]:
    """At each call of these ``names`` that loads, unasked, what lies under the largest number in a listed folder."""
    for load in program.calls(*names):
        if load.detached or not load.args or not _resumes(program, load):
            continue
        training = _training(program, load)
        found = None if training is None else _listed(program, load, training)
        if found is not None:
            yield left_over(program, rule, *found, [])


def _resumes(program: Program, load: Event) -> bool:
    """Whether a setting, the function that loads or a method that is given what was loaded has a word for going on."""
    told = (load.func.name if load.func is not None else "", *map(describe, load.guards))
    given = (e.name for e in program.once("given", _given).get(id(load.result), ()) if e.index > load.index)
    return any(map(RESUMES.search, (*told, *given)))


def _given(program: Program) -> dict[int, list[Event]]:
    """What is called with a value as one of its arguments, by the ``id`` of the value."""
    found: dict[int, list[Event]] = {}
    for event in program.events:
        for value in dict.fromkeys(map(id, event.args)):
            found.setdefault(value, []).append(event)
    return found


def _training(program: Program, load: Event) -> Event | None:
    """What seems to train, in a loop after a load, where something seems to save there, too."""
    after = [e for e in program.once("of-unknown", _in_loops) if e.index > load.index]
    if not any(_SAVES.fullmatch(e.name) and e.meets(load) for e in after):
        return None
    return next((e for e in after if _TRAINS.fullmatch(e.name) and e.meets(load)), None)


def _in_loops(program: Program) -> list[Event]:
    """The calls in loops that seem to train or to save something which is not known."""
    calls = (e for e in program.beginning("?.", "call") if e.loops and not e.detached)
    return [e for e in calls if _SAVES.fullmatch(e.name) or _TRAINS.fullmatch(e.name)]


def _listed(program: Program, load: Event, training: Event) -> tuple[Event, Value] | None:
    """The load under the conditions of its path alone, and the folder that was listed for a part of it."""
    before = (e for e in program.effective if e.index < load.index and not e.detached)
    for listing in (e for e in reversed(listings(before)) if e.meets(load)):
        folder = listed_by(listing)
        for cond, path in alternatives(load.args[0]) if folder is not None else ():
            guards = (*listing.guards, cond)
            asked = by_default(simplified(both(*guards, *load.guards), both(*training.guards))) is False
            asked = asked or any(is_asked(describe(one)) for one in guards)
            if folder is None or asked or not _is_within(path, folder):
                continue
            if _is_picked(program, path, listing):
                return replace(load, guards=guards), folder
    return None


def _is_within(path: Value, folder: Value) -> bool:
    """Whether a path is that of a folder and a name that is only known when the program runs."""
    inside = (
        Place(here.names[len(there.names) :])
        for _, here in places(path)
        for _, there in places(folder)
        if begins(here, there)
    )
    return any(one.is_open for one in inside)


def _is_picked(program: Program, path: Value, listing: Event) -> bool:
    """Whether a name in a path is one that was listed, or is made from the largest number in all of them."""
    makers = results(program)
    todo, depth = [path], 0
    while todo and depth < _DEPTH:
        if any(listed(program, value) is not None for value in todo):
            return True
        made = [event for value in todo for event in made_of(value, makers)]
        for pick in (event for event in made if event.name in PICKS):
            between = program.events[listing.index : pick.index]
            return any(e.kind == "iterate" and e.name == "listing" and e.stack == pick.stack for e in between)
        parts = [part for event in made for part in (event.args if event.name != listing.name else ())]
        todo, depth = parts, depth + 1
    return False
