"""What a recording tells of how the program was set up: variables, switches, settings, files, draws without a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from d9mlint.trace.recording import MAIN, NOWHERE, Event, Recording

READ = "read"
_MOST_FILES = 200


class Draw(NamedTuple):
    """A line that draws from a generator which nothing has seeded until then."""

    place: tuple[str, int, str]
    op: str
    generator: str
    seeded: int
    """The line that seeds it later; 0 where none does."""


def switched(recording: Recording) -> tuple[tuple[int, Event], ...]:
    """Who set a switch, or read a variable that is or will be set; each with the steps made before it."""
    given = {name for name, value in recording.variables.items()}
    given |= {str(event.fields[1]) for _, event in recording.switched if event.fields[0] != READ}
    return tuple(
        (step, event)
        for step, event in recording.switched
        if event.place != NOWHERE and (event.fields[0] != READ or event.fields[1] in given)
    )


def files(recording: Recording) -> tuple[str, ...]:
    """The first files that it read, in this order."""
    return tuple(dict.fromkeys(str(event.fields[0]) for event in recording.read))[:_MOST_FILES]


def unseeded(recording: Recording) -> tuple[Draw, ...]:
    """The lines that draw from a global generator before it is seeded, each once, in the order of their first draw."""
    found: dict[object, Draw] = {}
    for name, events in recording.events:
        if name != MAIN:
            continue
        seeds = _seeds(events)
        for number, place, generator, op in _draws(events):
            mine = seeds.get(generator, seeds.get("torch", []) if generator == "torch-device" else [])
            if place == NOWHERE or any(one.number < number for one in mine):
                continue
            later = next((one.place[1] for one in mine if one.place[0] == place[0]), 0)
            found.setdefault((place[:2], generator), Draw(place, op, generator, later))
    return tuple(found.values())


def _seeds(events: Sequence[Event]) -> dict[str, list[Event]]:
    """By generator, where it is given a seed."""
    found: dict[str, list[Event]] = {}
    for event in events:
        if event.kind == "seed" and event.place != NOWHERE:
            found.setdefault(str(event.fields[0]), []).append(event)
    return found


def _draws(events: Sequence[Event]) -> Iterator[tuple[int, tuple[str, int, str], str, str]]:
    """What draws from a global generator: number, place, generator, name."""
    for event in events:
        if event.kind == "draw" and event.fields[0] != "own":
            yield event.number, event.place, str(event.fields[0]), str(event.fields[1])
        elif event.kind == "op" and event.fields[6] and event.fields[6][0] != "own":
            yield event.number, event.place, str(event.fields[6][0]), str(event.fields[1])
