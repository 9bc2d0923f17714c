"""What a run has recorded, read back: steps, losses, files, and the events op by op."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

Json = list[Any]
MAIN, DATASET = "main", "dataset"
"""The program's first process or thread; the threads of a dataset, in which elements are made in any order."""
NOWHERE = ("", 0, "")


class Event(NamedTuple):
    """One line of a recording."""

    number: int
    """Within its process, from 1."""
    kind: str
    thread: str
    place: tuple[str, int, str]
    """File, line and function of the user's code; ``NOWHERE`` where there was none."""
    fields: tuple[Any, ...]
    """What comes after the place."""


class Loss(NamedTuple):
    """A loss, as a step of the program computed it."""

    digest: str
    value: str
    """Hexadecimal."""
    before: int
    """Steps that were made before it."""
    dtype: str = ""


class Sample(NamedTuple):
    """Some of the parameters after a step, the same ones in each run."""

    step: int
    dtype: str
    """Empty where they are of several types."""
    values: tuple[float, ...]


class Recording(NamedTuple):
    """All that a run has recorded."""

    steps: tuple[str, ...] = ()
    """Digests of the parameters, after each step of an optimizer."""
    times: tuple[float, ...] = ()
    """Seconds on a clock of its own, for each step."""
    losses: tuple[Loss, ...] = ()
    samples: tuple[Sample, ...] = ()
    uses: tuple[str, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    written: tuple[tuple[str, int], ...] = ()
    """Files that it opened to write, and the number of that event."""
    read: tuple[Event, ...] = ()
    notes: tuple[str, ...] = ()
    end: str = ""
    """``steps``: enough were recorded; ``exit``: the program came to its end; ``full``; empty: it was cut off."""
    started: bool = False
    """Whether the recording came up in the process at all."""
    events: tuple[tuple[str, tuple[Event, ...]], ...] = ()
    """By process (``main``, workers), the events of the second stage."""


_PLACED = {"op", "call", "shadow", "draw", "seed", "source", "read", "write", "value"}


def read(folder: Path) -> Recording:
    """The recording in a run's folder; a line that was cut off ends its file."""
    processes = {path.stem: list(_events(path)) for path in sorted(folder.glob("*.jsonl"))}
    light = processes.get(MAIN, [])
    steps: list[str] = []
    times: list[float] = []
    losses: list[Loss] = []
    samples: list[Sample] = []
    for one in light:
        if one.kind == "step":
            steps.append(str(one.fields[2]))
            times.append(float(one.fields[3]))
        elif one.kind == "loss":
            digest, value, dtype = one.fields
            losses.append(Loss(str(digest), str(value), len(steps), str(dtype)))
        elif one.kind == "sample":
            samples.append(Sample(len(steps) + 1, str(one.fields[0]), tuple(map(float, one.fields[1]))))
    uses = [one for one in light if one.kind == "uses"]
    detailed = {"op", "call", "shadow", "draw", "seed", "source", "read", "value"}
    return Recording(
        tuple(steps), tuple(times), tuple(losses), tuple(samples), tuple(sorted({str(one.fields[0]) for one in uses})),
        (
            *(("python", str(one.fields[0])) for one in light if one.kind == "start"),
            *((str(one.fields[0]), str(one.fields[1])) for one in uses if len(one.fields) > 1),
        ),
        tuple((str(one.fields[0]), one.number) for one in light if one.kind == "write"),
        tuple(one for one in light if one.kind == "read"),
        tuple(str(one.fields[0]) for one in light if one.kind == "note"),
        next((str(one.fields[0]) for one in light if one.kind == "end"), ""),
        any(one.kind == "start" for one in light),
        tuple((name, tuple(e for e in events if e.kind in detailed)) for name, events in processes.items()),
    )  # fmt: skip


def _events(path: Path) -> Iterator[Event]:
    places: dict[int, tuple[str, int, str]] = {0: NOWHERE}
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                kind, thread, *fields = json.loads(line)
            except ValueError:
                return
            if kind == "place":
                places[fields[0]] = (fields[1], fields[2], fields[3])
            elif kind in _PLACED:
                yield Event(number, kind, thread, places.get(fields[0], NOWHERE), tuple(fields[1:]))
            else:
                yield Event(number, kind, thread, NOWHERE, tuple(fields))
