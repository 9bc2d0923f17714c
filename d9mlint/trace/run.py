"""Runs the program under given conditions, as often as asked, and keeps what is needed to compare the runs."""

from __future__ import annotations

import os
import tempfile
import time
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from d9mlint.trace import files, study
from d9mlint.trace.child.parts import RANKS
from d9mlint.trace.process import RAN, Ended, Start, executed
from d9mlint.trace.recording import Recording, read

_PERTURB = (85, 170, 51, 204, 15, 240)
"""What glibc fills memory with that it hands out (`mallopt(3)`, M_PERTURB): other runs find other leftovers."""
_FIRST_HASH_SEED = 101
LIGHT, OPS, VALUES, SHADOW, STUDY = "light", "ops", "values", "shadow", "study"
_TEXT = 2**16
"""Bytes of the output that are kept, from its end."""


class Program(NamedTuple):
    """What is run."""

    python: str
    """The interpreter, or a launcher of it."""
    words: tuple[str, ...]
    """After it: the script, or ``-m`` and a module; a launcher's own words."""
    arguments: tuple[str, ...]
    roots: tuple[str, ...]
    """Folders whose files are the user's own code."""
    cwd: str | None = None
    """Where it runs; None: in the working directory of d9mlint."""
    launcher: str = ""
    """As the user has called it; empty where an interpreter runs the program."""

    @property
    def told(self) -> str:
        """The command, as the user knows it."""
        return " ".join((*filter(None, (self.launcher,)), *self.words, *self.arguments))


@dataclass(frozen=True, slots=True)
class Settings:
    """How it is run."""

    steps: int = 20
    """Steps of optimizers after which the program is ended; 0: it runs to its end."""
    runs: int = 2
    shift: int = 0
    """What is added to each seed that the program sets, and to that which is set at its start."""
    summed: bool = False
    """Digests are made on the CPU as they are on a GPU."""
    repeats: int = 0
    """Of each op, in the stage of shadows."""


class Conditions(NamedTuple):
    """One row of the matrix of switches, in one stage."""

    stage: str = LIGHT
    switch: str = ""
    inside: tuple[str, ...] = ()
    """Switches that the child throws."""
    env: Mapping[str, str] = {}


class Run(NamedTuple):
    """What is known of one run."""

    conditions: Conditions
    number: int
    ended: Ended
    recording: Recording
    output: str
    """A digest of what it wrote to its standard output."""
    wrote: Mapping[str, str]
    """By path, a digest of each file that it left behind."""
    searched: bool = True
    """Whether all files of the working directory were looked at."""
    cwd: Path = Path()
    """The working directory."""
    text: str = ""
    """The end of what it wrote to its standard output."""
    weights: array[float] = array("d")
    """Some of the final weights, always the same ones; only of a study."""

    @property
    def whole(self) -> bool:
        """Whether it ended by itself, well, or after the steps that were asked for, and was recorded until then."""
        ends = {one.end for _, one in self.recording.parts}
        cut = self.ended.how != RAN or self.recording.lost or "full" in ends
        return not cut and (self.ended.code == 0 or "steps" in ends)


def run(program: Program, settings: Settings, conditions: Conditions, number: int, seconds: float) -> Run:
    """Runs the program once; ``number`` (from 0) decides about the hash seed and the allocator's leftovers.

    Raises:
        OSError: the interpreter cannot be started.
    """
    cwd = Path.cwd() if program.cwd is None else Path(program.cwd)
    before, searched = files.state(cwd)
    with tempfile.TemporaryDirectory(prefix="d9mlint-trace-", ignore_cleanup_errors=True) as name:
        folder = Path(os.path.realpath(name))
        asked = {
            "stage": conditions.stage, "steps": settings.steps, "switches": list(conditions.inside),
            "roots": list(program.roots), "summed": settings.summed, "shift": settings.shift,
            "repeats": settings.repeats, "perturb": int(_varied(number).get("MALLOC_PERTURB_", "0")),
            "outer": {name: os.environ[name] for name in RANKS if name in os.environ},
        }  # fmt: skip
        env = {**_varied(number), **conditions.env}
        command = (program.python, *program.words, *program.arguments)
        ended = executed(Start(command, folder, asked, env, program.cwd), seconds)
        recording = read(folder)
        output, text = files.output(folder / "stdout"), files.tail(folder / "stdout", _TEXT)
        weights = study.weights(folder)
    after, _ = files.state(cwd)
    wrote = files.written(before, after, (path for _, one in recording.parts for path, _ in one.written))
    return Run(conditions, number, ended, recording, output, wrote, searched, cwd, text, weights)


def _varied(number: int) -> dict[str, str]:
    """What differs from run to run anyway, made to differ for sure; what the user has set stays."""
    varied = {
        "PYTHONHASHSEED": str(_FIRST_HASH_SEED + number),
        "MALLOC_PERTURB_": str(_PERTURB[number % len(_PERTURB)]),
    }
    return {name: value for name, value in varied.items() if os.environ.get(name, "random") == "random"}


class Clock:
    """The time that is left for all stages together, on the monotonic clock."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds."""
        return max(0.0, self._end - time.monotonic())
