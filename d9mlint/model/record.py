"""What files of evidence hold: verdicts with the machine and the versions that they were seen on."""

from __future__ import annotations

from typing import NamedTuple

from d9mlint.model.evidence import (
    CONFIRMED,
    FIXES,
    HARNESS,
    LEAKS,
    NOT_REPRODUCED,
    OUTCOMES,
    RAISES,
    RNG,
    UNTESTED,
    Tally,
)

_MODES = {
    FIXES: "deterministic mode fixes it",
    LEAKS: "deterministic mode does not cure it",
    RAISES: "deterministic mode raises an error",
}


class Record(NamedTuple):
    """One verdict out of a file that ``d9mlint verify --record`` (or ``--format json``) wrote."""

    op: str
    framework: str
    version: str
    """Of the framework."""
    verdict: str
    device: str = ""
    """``cpu`` or ``gpu``; empty where nothing was executed."""
    hardware: str = ""
    """The processor, or the GPUs."""
    cores: int = 0
    versions: tuple[tuple[str, str], ...] = ()
    """Of all that the result depends on, as the framework tells them (CUDA, cuDNN, driver ...)."""
    case: str = ""
    direction: str = ""
    execution: str = ""
    dtype: str = ""
    deterministic_mode: str = ""
    runs: int = 0
    distinct: int = 0
    differing: int = 0
    max_ulp: int | None = None
    most: Tally | None = None
    """The number of threads under which the largest share of runs differed in default mode."""
    leaked: Tally | None = None
    """The same in deterministic mode."""
    note: str = ""
    date: str = ""
    """ISO 8601; empty where the file does not tell it."""
    file: str = ""
    """As reports show it."""
    own: bool = False
    """Whether it is the project's own, and not of a file that the user named."""

    @property
    def varied(self) -> bool:
        """Whether runs in default mode were seen to differ, generators reset before each."""
        return self.distinct > 1

    @property
    def leaks(self) -> bool:
        """Whether runs in deterministic mode were seen to differ."""
        return self.deterministic_mode == LEAKS

    @property
    def executed(self) -> bool:
        """Whether the op was executed, so that something is known."""
        return bool(self.device) and self.runs > 0 and self.verdict != HARNESS

    @property
    def strength(self) -> tuple[object, ...]:
        """Sorts what says most first: gravest verdict, in the usual dtype, largest share of differing runs; by name."""
        share = self.most.differing / self.most.runs if self.most and self.most.runs else 0.0
        names = (self.op, self.case, self.direction, self.execution, self.dtype, self.hardware, self.version, self.date)
        unusual = self.dtype not in ("", "float32")
        rest = (*names, self.file, self.runs, self.differing)
        return (not self.executed, OUTCOMES.index(self.verdict), unusual, -share, *rest)

    @property
    def where(self) -> str:
        """``CPU (Intel Xeon, 16 threads)``, ``GPU (NVIDIA H200)``."""
        if self.device == "gpu":
            return f"GPU ({self.hardware})"
        seen = self.most if self.varied else self.leaked if self.leaks else None
        number, what = (seen.threads, "thread") if seen and seen.threads else (self.cores, "core")
        return f"{self.device.upper()} ({self.hardware}, {number} {what}{'' if number == 1 else 's'})"

    @property
    def conditions(self) -> str:
        """How it was executed: what a verdict is bound to, beside device and versions."""
        return ", ".join(part for part in (self.case, self.direction, self.execution, self.dtype) if part)

    def told(self, label: str = "") -> str:
        """The verdict as a sentence; ``label`` follows device and version."""
        on = f"{self.where}, {self.framework} {self.version}" if self.device else f"{self.framework} {self.version}"
        on += f", {label}" if label else ""
        bound = ", ".join(part for part in (self.conditions, self.date) if part)
        mode = f"; {_MODES[self.deterministic_mode]}" if self.deterministic_mode in _MODES else ""
        return f"{self._verb} {on}: {self._seen}{mode} ({bound})"

    @property
    def _verb(self) -> str:
        if not self.executed:
            return "not executed on" if self.device else "not executed with"
        return "not reproduced on" if self.verdict in (NOT_REPRODUCED, UNTESTED) else "observed on"

    @property
    def _seen(self) -> str:
        if not self.executed:
            return f"{self.verdict}{', ' + self.note if self.note else ''}"
        if self.varied:
            most = self.most
            if most and most.differing:
                return f"{most.differing} of {most.runs} runs differ"
            return f"{self.differing} of {self.runs} runs differ" if self.differing else "processes differ"
        if self.leaks:
            seen = f"{self.leaked.differing} of {self.leaked.runs}" if self.leaked else "runs"
            return f"{self.runs} equal runs by default, {seen} differ in deterministic mode"
        if self.verdict == RNG:
            return "runs differ unless the generators are reset before each"
        return f"{self.runs} equal runs" + (
            ", other conditions may differ" if self.verdict in (NOT_REPRODUCED, UNTESTED) else ""
        )


class Parting(NamedTuple):
    """A culprit out of a report of ``d9mlint trace``: a line where runs of a program were seen to part."""

    finding: str
    """``path:line rule`` of the finding that explains it."""
    path: str
    line: int
    op: str
    kind: str
    note: str
    program: str
    step: int | None = None
    machine: str = ""
    """The processor and the versions, in words."""
    device: str = ""
    """``cpu`` or ``gpu``; empty where it is not known."""
    versions: tuple[tuple[str, str], ...] = ()
    file: str = ""
    """As reports show it."""
    own: bool = False
    verdict: str = CONFIRMED

    @property
    def strength(self) -> tuple[object, ...]:
        """Sorts it beside records, before what was not seen in the program itself."""
        return (False, OUTCOMES.index(self.verdict), -1.0, self.op, self.path, f"{self.line:9}", self.file)

    def told(self, label: str = "") -> str:
        """The observation as a sentence; ``label`` follows the machine."""
        when = f"at step {self.step}" if self.step else "in what they write"
        on = ", ".join(part for part in (self.machine, label) if part)
        note = f": `{self.op}` {self.note}" if self.kind == "op" else f": {self.note}"
        return f"runs of `{self.program}` were seen to part {when}, on line {self.line} of {self.path}{note} ({on})"


class Backing(NamedTuple):
    """A record that bears on a finding."""

    record: Record | Parting
    differs: tuple[str, ...] = ()
    """What the target of the finding has instead (``device gpu``, ``tensorflow 2.9.1``); empty: the same."""
    confirms: bool = False
    """Whether it shows, for the finding's own target, what the finding says."""

    @property
    def told(self) -> str:
        """The record in words, with what it is not about."""
        label = f"not on your target ({', '.join(self.differs)})" if self.differs else ""
        whose = "d9mlint's own evidence: " if self.record.own else ""
        return whose + self.record.told(label)
