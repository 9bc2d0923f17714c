"""What a rule reports, and where."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from d9mlint.model.record import Backing

SEVERITIES = ("info", "warning", "error")
"""From mildest to worst."""
CONFIDENCES = ("low", "medium", "high")
"""From least to most certain; ``low`` is hidden unless asked for."""
NOISES = ("algo", "impl")
"""The two families of noise: the algorithm's own random choices, or the implementation (Zhuang et al. 2021)."""

GENERATORS = {
    "python": "Python's `random`",
    "numpy": "NumPy's global generator",
    "tensorflow": "TensorFlow's global generator",
    "torch": "PyTorch's global generator",
    "torch-device": "the GPU's generator",
    "paddle": "Paddle's global generator",
    "numba": "Numba's generator",
}
"""The generators that a program shares, and what people call them."""


class Location(NamedTuple):
    """A range in a file; lines and columns start at 1, the end column is exclusive. ``path`` is ``/``-separated."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int = 0
    """In reports about notebooks and scripts in percent format: the number of the cell (from 1)."""

    @property
    def in_cell(self) -> bool:
        """Whether the lines are counted in the cell; those of a script in percent format are lines of the file."""
        return self.cell > 0 and self.path.endswith(".ipynb")

    @property
    def file(self) -> str:
        """What the lines are counted in: ``path``, or ``path:cell 3``."""
        return f"{self.path}:cell {self.cell}" if self.in_cell else self.path


TAKES_SEED = "the graph takes its seed from here"
"""The note of a place whose arguments hold the seed of all random ops, whatever else is seeded."""

OWN_GRAPH = "a graph of its own, which a seed outside of it does not reach"
"""The note of a place where a graph becomes the default: it is seeded inside."""
NO_PROGRAM = "(none that was found does)"
"""The end of the condition that a program imports the file of a finding."""
RESET_GRAPH = "makes a new graph, which drops the seed that was set before"
"""The note of a call after which the graph is another one: it is seeded after it."""


class Related(NamedTuple):
    """Another place that belongs to a finding, and what it has to do with it."""

    location: Location
    note: str
    rule: str = ""
    """The rule whose finding this was, where several of one cause are told as one."""


class Edit(NamedTuple):
    """Replace the text in ``location`` (an insertion when the range is empty) by ``text``."""

    location: Location
    text: str


class Fix(NamedTuple):
    """Edits that cure a finding; ``safe`` means that the meaning stays as the author intended."""

    message: str
    edits: tuple[Edit, ...]
    safe: bool = True


class OpCall(NamedTuple):
    """How a program calls an op, as far as its source shows it; what is not seen is empty."""

    op: str
    """The entry of the catalogue."""
    name: str = ""
    """What is called."""
    place: str = ""
    """``path:line``."""
    arguments: tuple[tuple[str, str], ...] = ()
    """Literals as Python writes them, by keyword or position."""
    dtype: str = ""
    shapes: tuple[tuple[str, str], ...] = ()
    """``[64, 128]``, by keyword or position; ``self`` is what a method is called of."""
    autocast: str = ""
    """The type that autocast computes in there."""
    execution: str = ""


class AnyPlace(NamedTuple):
    """When a program has a cause, or draws from a generator, at all: at any of its places that say as much of it."""

    when: tuple[str, ...]
    places: int
    """How many there are."""


class InProgram(NamedTuple):
    """When one of the programs that have a finding has it."""

    entry: str
    when: tuple[str, ...]
    any_place: AnyPlace | None = None
    reached: Location | None = None
    """The line of the script itself that has it, or that comes to it; None where that is not seen."""
    concerns: tuple[str, ...] = ()
    """What of a cause is concerned in this program, as in `Finding.concerns`."""


class Finding(NamedTuple):
    """One report of one rule; ``when`` lists the conditions under which it holds, all of them at once."""

    rule: str
    id: str
    hazard: str
    noise: str
    severity: str
    confidence: str
    message: str
    location: Location
    remedy: str = ""
    when: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()
    fingerprint: str = ""
    entries: tuple[str, ...] = ()
    """Entry scripts whose program has this finding; empty when it does not depend on a program."""
    ops: tuple[str, ...] = ()
    """Names of the catalogue's ops that it is about, so that they can be executed."""
    calls: tuple[OpCall, ...] = ()
    """How it calls them."""
    evidence: tuple[Backing, ...] = ()
    """What executing these ops has shown, what bears most on the finding first."""
    cause: str = ""
    """What it comes from: findings of one program with the same cause are told as one (`d9mlint.app.causes`).

    A slug, and after a slash what of it is concerned, as in ``unseeded/numpy``; empty: its place alone. In a report it
    names the cause in this report.
    """
    concerns: tuple[str, ...] = ()
    """What of its cause is concerned: the generators that a seed is missing for (``numpy``, ``torch``)."""
    uncalled: bool = False
    """Nothing was seen to call its code: its entries are those that were looked at, not those that run it."""
    any_place: AnyPlace | None = None
    """When its program has its cause at all; None where it is the only place, or that cannot be told."""
    programs: tuple[InProgram, ...] = ()
    """Of a finding that several programs may have, the conditions of each; ``when`` tells them together."""
    reached: Location | None = None
    """The line of its program's script that has it, or that comes to it."""
    apart: bool = False
    """Each of its programs has to be cured for itself (seeds and switches), and it is not the one that it stands in."""
    slight: bool = False
    """What it is about decides little: a number that only names a folder, or stands in for inputs."""

    @property
    def by_program(self) -> tuple[InProgram, ...]:
        """The conditions of each program; of a finding that depends on none, those of its file."""
        return self.programs or tuple(
            InProgram(one, self.when, self.any_place, self.reached) for one in self.entries or ("",)
        )

    @property
    def confirmed(self) -> bool:
        """Whether evidence that the user named shows, for the target, what the finding says."""
        return any(one.confirms for one in self.evidence)

    @property
    def sort_key(self) -> tuple[Location, str, str, tuple[str, ...]]:
        """Reports are sorted by place, then rule, then text."""
        return (self.location, self.rule, self.message, self.when)


_LINE = 2_000
"""So many characters of a line tell it from others; generated ones are longer, and may hold thousands of findings."""


def fingerprint(rule: str, path: str, line_text: str, occurrence: int) -> str:
    """Stable identity of a finding for baselines and SARIF: it survives edits elsewhere in the file.

    ``line_text`` is the source line of the finding, ``occurrence`` counts equal (rule, path, line text) from 0.
    """
    payload = "\0".join((rule, path, " ".join(line_text.split()), str(occurrence)))
    return hashlib.sha256(payload.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def fingerprinted(findings: Iterable[Finding], line_text: Callable[[Finding], str]) -> list[Finding]:
    """The findings, in the given order, each with its fingerprint; ``line_text`` gives the source line of one."""
    seen: Counter[tuple[str, str, str]] = Counter()
    done: list[Finding] = []
    for finding in findings:
        key = (finding.rule, finding.location.path, line_text(finding)[:_LINE])
        done.append(finding._replace(fingerprint=fingerprint(*key, seen[key])))
        seen[key] += 1
    return done
