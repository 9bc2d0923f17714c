"""What running a program more than once has shown: whether the runs part, which switch decides, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

EQUAL, PART, FAILED, UNTRIED = "equal", "part", "failed", "not-tried"
"""Verdicts on runs of a program: they were equal as far as was looked, they part, there is no verdict."""
OP, DRAW, ORDER, MEMORY, EXTERNAL, TIME = "op", "draw", "order", "memory", "external", "time"
KINDS = (OP, DRAW, ORDER, MEMORY, EXTERNAL, TIME)
"""What a culprit is: an op whose equal inputs gave different outputs, a draw of a generator in another state, things in
another order, memory read before it was written, data from outside, a clock."""


class Comparison(NamedTuple):
    """Two or more runs under the same conditions."""

    verdict: str
    step: int | None = None
    """The step of an optimizer (from 1) at which they part; None where they do not, or no optimizer tells."""
    what: str = ""
    """What differs first, or why there is no verdict."""
    steps: int = 0
    """Steps that were compared."""


class SwitchTried(NamedTuple):
    """What one change of the conditions did."""

    name: str
    changes: str
    """What is set, in words."""
    comparison: Comparison
    decides: bool = False
    """Whether the runs are equal with it, and part without."""


class SeenTensor(NamedTuple):
    """A tensor that an op took or gave, in both runs."""

    role: str
    """``in`` or ``out``."""
    dtype: str
    """Empty where it is not recorded: of what comes out."""
    shape: tuple[int, ...]
    digests: tuple[str, str]
    """Of its bytes in each run; the second is empty where the other run has no such op."""
    same: bool
    """Whether both runs have the same bytes, as far as they can be read."""


class Culprit(NamedTuple):
    """Where two runs part for the first time, or independently of that."""

    path: str
    """Relative to the working directory; empty where no line of the program's own is on the way."""
    line: int
    op: str
    kind: str
    inputs: str = ""
    """What went in: shapes and types, equal or not."""
    note: str = ""
    """What happened, as a sentence."""
    direction: str = ""
    """``backward`` for an op of a gradient; its line is that of the forward op."""
    finding: str = ""
    """``path:line rule`` of the linter's finding that explains it; empty: d9mlint did not know this."""
    source: str = ""
    """The text of the line."""
    tensors: tuple[SeenTensor, ...] = ()
    """What went in, and what came out of an op."""
    call: str = ""
    """A program that makes such a call of the op, for ``verify --make``; empty where there is none to be made."""


class CureTried(NamedTuple):
    """Runs of a copy of the program with the patches of ``check --fix --unsafe-fixes``."""

    comparison: Comparison
    patched: tuple[str, ...] = ()
    """The files."""
    cured: tuple[str, ...] = ()
    """``path:line rule`` of the findings that the patches are for."""
    left: tuple[str, ...] = ()
    """The same of those without a patch, each with the reason."""
    cost: tuple[float, float, float] | None = None
    """Time with the patches over time without: the ratio, and the ends of its 95 % interval."""
    blocks: int = 0
    """Pairs of runs, one without and one with the patches, that the ratio is of."""
    timed: str = ""
    """What was timed: ``steps``, or ``whole runs``."""
    diff: str = ""


class Apart(NamedTuple):
    """How far two runs lie apart at one step."""

    step: int
    """From 1."""
    losses: tuple[float | None, float | None] = (None, None)
    """Of both runs; None where it is not seen, or not finite."""
    loss_ulp: int | None = None
    """Numbers of the loss' type between the two losses, one of them counted."""
    l2: float | None = None
    """The L2 between some of the parameters of both runs after the step, over that of the first run."""
    ulp: int | None = None
    """The most numbers of their type that lie between two of these parameters."""


class Shadowed(NamedTuple):
    """Ops that were executed again and again on the same inputs, while the program ran."""

    repeats: int
    ops: int = 0
    """Executions of the program's own that were repeated."""
    steps: int = 0
    varying: tuple[Culprit, ...] = ()
    what: str = ""
    """Why there is no result; empty where there is one."""


class UnseededDraw(NamedTuple):
    """A line that draws from a generator which nothing has seeded until then."""

    path: str
    line: int
    op: str
    generator: str
    """``python``, ``numpy``, ``torch``, ``torch-device``, ``tensorflow``."""
    seeded: int = 0
    """The line of the same file that seeds it later; 0 where none does."""


class TracedRun(NamedTuple):
    """One run of the program."""

    stage: str
    switch: str
    number: int
    """From 1, under the same conditions."""
    steps: int
    ended: str
    """How, in words."""
    wrote: tuple[str, ...] = ()
    partial: bool = False
    """Whether it was cut off, or failed."""


class TraceReport(NamedTuple):
    """The outcome of ``d9mlint trace``."""

    program: str
    comparison: Comparison
    bound: float | None = None
    """The rate (of a step, or of a run where there are no steps) at which runs may still part, with 95 % confidence."""
    switches: tuple[SwitchTried, ...] = ()
    culprits: tuple[Culprit, ...] = ()
    environment: Mapping[str, object] = {}
    runs: tuple[TracedRun, ...] = ()
    notes: tuple[str, ...] = ()
    """What is to be known about the runs: files that one left for the next, what is not recorded."""
    stopped: str = ""
    """Why the report is a part; empty for a whole one."""
    cure: CureTried | None = None
    """None where none was asked for."""
    asked: int = 0
    """Steps after which the program is ended; 0: none."""
    growth: tuple[Apart, ...] = ()
    """Step by step, of the two runs that part first; of many steps some, evenly spaced. Empty for equal runs."""
    shadow: Shadowed | None = None
    """None where none was asked for."""
    sources: Mapping[str, str] = {}
    """The texts of the files that culprits are in, by path."""
    draws: tuple[UnseededDraw, ...] = ()
    """Of a run that was recorded op by op."""
