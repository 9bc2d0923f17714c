"""What a run has recorded, read back: steps, losses, files, and the events op by op."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from d9mlint.trace.child.recorder import WHOLE

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
    ranks: tuple[tuple[str, Recording], ...] = ()
    """By name, the recordings of other processes that train: what a launcher or the program itself has started."""
    variables: Mapping[str, str] = {}
    """Of the environment, at the start: those that decide how frameworks compute."""
    settings: tuple[tuple[str, Mapping[str, object]], ...] = ()
    """By framework, how it was set up at the end."""
    switched: tuple[tuple[int, Event], ...] = ()
    """Who set a switch or read a variable, each with the steps that were made before."""
    lost: bool = False
    """Whether something could not be written down: the disk was full."""

    @property
    def parts(self) -> tuple[tuple[str, Recording], ...]:
        """What runs are compared by: the first process (without a name), unless only its ranks train, and the ranks."""
        alone = not self.ranks or bool(self.steps or self.losses)
        return ((("", self),) if alone else ()) + self.ranks

    @property
    def leading(self) -> Recording:
        """The first of the parts."""
        return self.parts[0][1]


_PLACED = {"op", "call", "shadow", "draw", "seed", "setting", "source", "read", "write", "value"}


def read(folder: Path) -> Recording:
    """The recording in a run's folder; a line that was cut off ends its file."""
    processes = {path.stem: list(_events(path)) for path in sorted(folder.glob("*.jsonl"), key=_in_order)}
    programs: dict[str, dict[str, list[Event]]] = {}
    for stem, events in processes.items():
        program, _, worker = stem.partition(".")
        programs.setdefault(program, {})[worker or MAIN] = events
    main = programs.pop(MAIN, {})
    others = {program + (f".{name}" if name != MAIN else ""): events
              for program, several in programs.items() for name, events in several.items()}  # fmt: skip
    found = [(name, _recording(several)) for name, several in programs.items()]
    ranks = tuple((name, one) for name, one in found if one.steps or one.losses or _has_ops(one))
    whole = _recording({MAIN: [], **main, **others})
    return whole._replace(
        ranks=ranks,
        uses=tuple(sorted({*whole.uses, *(use for _, one in found for use in one.uses)})),
        versions=tuple(dict.fromkeys((*whole.versions, *(pair for _, one in found for pair in one.versions)))),
        notes=tuple(dict.fromkeys((*whole.notes, *(note for _, one in found for note in one.notes)))),
        lost=not (folder / WHOLE).exists(),
        started=any(one.started for one in (whole, *(one for _, one in found))),
    )


def _in_order(path: Path) -> tuple[str, tuple[int, ...]]:
    return re.sub(r"\d+", "", path.stem), tuple(map(int, re.findall(r"\d+", path.stem)))


def _has_ops(one: Recording) -> bool:
    return any(event.kind == "op" for _, events in one.events for event in events)


def _recording(processes: Mapping[str, Sequence[Event]]) -> Recording:
    light = processes.get(MAIN, [])
    steps: list[str] = []
    times: list[float] = []
    losses: list[Loss] = []
    samples: list[Sample] = []
    switched: list[tuple[int, Event]] = []
    for one in light:
        if one.kind == "step":
            steps.append(str(one.fields[2]))
            times.append(float(one.fields[3]))
        elif one.kind == "loss":
            digest, value, dtype = one.fields
            losses.append(Loss(str(digest), str(value), len(steps), str(dtype)))
        elif one.kind == "sample":
            samples.append(Sample(len(steps) + 1, str(one.fields[0]), _numbers(str(one.fields[1]))))
        elif one.kind == "setting":
            switched.append((len(steps), one))
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
        variables=next((dict(one.fields[0]) for one in light if one.kind == "variables"), {}),
        settings=tuple((str(one.fields[0]), dict(one.fields[1])) for one in light if one.kind == "settings"),
        switched=tuple(switched),
    )  # fmt: skip


def _numbers(text: str) -> tuple[float, ...]:
    """What is written down in hexadecimal, eight bytes each."""
    return tuple(number for (number,) in struct.iter_unpack("<d", bytes.fromhex(text)))


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
