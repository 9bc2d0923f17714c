"""What `d9mlint trace` knows while it runs: options, runs until now, what was found; and how they become a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from d9mlint.app.machine import machine
from d9mlint.app.options import shown
from d9mlint.model import (
    Apart,
    Comparison,
    Culprit,
    CureTried,
    Shadowed,
    SwitchTried,
    TracedRun,
    TraceReport,
    UnseededDraw,
)
from d9mlint.model.trace import FAILED
from d9mlint.trace import compare, ledger
from d9mlint.trace.run import LIGHT, OPS, Clock, Conditions, Program, Run, Settings, run

_NOTHING = Comparison(FAILED, what="no runs were compared")
Watch = Callable[[str], None]
MARGIN = 1.3
"""More runs are begun where this many times the time is left that the first ones took."""


class TraceOptions(NamedTuple):
    """What the command line asks for."""

    script: Path | None = None
    module: str | None = None
    launcher: tuple[str, ...] = ()
    """With its words; the program is among them."""
    arguments: tuple[str, ...] = ()
    python: str | None = None
    runs: int = 2
    steps: int = 20
    time: float = 600.0
    config: Path | None = None
    cure: bool = False
    shadow: int = 0
    """How often each op is executed again on the same inputs; 0: not at all."""


@dataclass(slots=True)
class Tracing:
    """What is known so far, so that an interruption leaves a partial report."""

    program: Program
    options: TraceOptions
    settings: Settings
    clock: Clock
    watch: Watch
    comparison: Comparison = _NOTHING
    switches: list[SwitchTried] = field(default_factory=list)
    culprits: tuple[Culprit, ...] = ()
    cure: CureTried | None = None
    runs: list[Run] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stopped: str = ""
    growth: tuple[Apart, ...] = ()
    shadow: Shadowed | None = None

    def run(self, conditions: Conditions, count: int) -> list[Run]:
        """So many runs under the same conditions."""
        runs: list[Run] = []
        for number in range(count):
            runs.append(run(self.program, self.settings, conditions, number, self.clock.left))
            self.runs.append(runs[-1])
        return runs

    def report(self) -> TraceReport:
        """The report on what was seen until now."""
        return TraceReport(
            self.program.told, self.comparison,
            compare.bound(self.comparison, self.options.runs), tuple(self.switches), self.culprits,
            {**machine(), "versions": _versions(self.runs), **_ledger(self.runs)}, tuple(map(_told, self.runs)),
            (*_notes(self.runs), *self.notes), self.stopped, self.cure, self.options.steps,
            self.growth, self.shadow, _sources([*self.culprits, *(self.shadow.varying if self.shadow else ())]),
            _draws(self.runs),
        )  # fmt: skip


def misled(what: str, options: TraceOptions) -> list[str]:
    """What a program that lacks a package is to be run with, where nobody has said it."""
    if "ModuleNotFoundError" not in what or options.python is not None or options.launcher:
        return []
    return ["it ran with d9mlint's own interpreter; `--python` names that of the environment in which it trains"]


def entry(options: TraceOptions) -> Path | None:
    """The file that is run; of a module it is looked for from here only; a launcher's is the first one of Python's."""
    if options.script is not None:
        return options.script
    words, module = options.launcher, options.module
    script = next((Path(one) for one in words if one.endswith(".py") and Path(one).is_file()), None)
    if script is not None:
        return script
    modules = [after for one, after in pairwise(words) if one in ("-m", "--module")]
    name = module if module is not None else next(reversed(modules), "")
    if not name.strip("."):
        return None
    stem = Path(*name.split("."))
    return next((path for path in (stem.with_suffix(".py"), stem / "__main__.py") if path.is_file()), None)


def placed(found: Culprit, cwd: Path) -> Culprit:
    """The culprit with its path as the user knows it, and the text of its line."""
    if not found.path:
        return found
    try:
        lines = Path(found.path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    source = lines[found.line - 1] if 0 < found.line <= len(lines) else ""
    return found._replace(path=shown(Path(found.path), cwd), source=source)


def _told(one: Run) -> TracedRun:
    return TracedRun(
        one.conditions.stage, one.conditions.switch or "as is", one.number + 1, len(one.recording.leading.steps),
        compare.ending(one), tuple(shown(Path(path), one.cwd) for path in sorted(one.wrote)), not one.whole,
    )  # fmt: skip


def _sources(culprits: Sequence[Culprit]) -> dict[str, str]:
    """The texts of the files that the culprits are in."""
    found = {}
    for path in sorted({one.path for one in culprits} - {""}):
        with suppress(OSError):
            found[path] = Path(path).read_text(encoding="utf-8", errors="replace")
    return found


def _versions(runs: Sequence[Run]) -> dict[str, str]:
    return dict(sorted({pair for one in runs for pair in one.recording.versions}))


def _ledger(runs: Sequence[Run]) -> dict[str, object]:
    """How the first run was set up; no keys where it tells of nothing."""
    first = next((one for one in runs if one.conditions.stage == LIGHT and not one.conditions.switch), None)
    if first is None:
        return {}
    cwd, one = Path.cwd(), first.recording.leading
    told = [
        {
            "path": shown(Path(event.place[0]), cwd), "line": event.place[1], "how": event.fields[0],
            "name": event.fields[1], "value": event.fields[2], "step": step,
        }
        for step, event in ledger.switched(one)
    ]  # fmt: skip
    return {
        "variables": dict(one.variables), "settings": dict(one.settings), "switched": told,
        "files": [shown(Path(path), cwd) for path in ledger.files(one)],
    }  # fmt: skip


def _draws(runs: Sequence[Run]) -> tuple[UnseededDraw, ...]:
    """Of the first run that was recorded op by op."""
    recorded = next((one for one in runs if one.conditions.stage == OPS), None)
    if recorded is None:
        return ()
    cwd = Path.cwd()
    return tuple(
        UnseededDraw(shown(Path(one.place[0]), cwd), one.place[1], one.op, one.generator, one.seeded)
        for one in ledger.unseeded(recorded.recording.leading)
    )


def _notes(runs: Sequence[Run]) -> list[str]:
    """What is to be known about the first runs, which answer whether they part."""
    first = [one for one in runs if not one.conditions.switch and one.conditions.stage == "light"]
    if not first:
        return []
    cwd = Path.cwd()
    notes = [
        f"run 2 read `{shown(Path(path), cwd)}`, which an earlier run had written: the runs did not start alike"
        for path in compare.left_for_the_next(first)
    ]
    notes += [f"the runs wrote `{shown(Path(path), cwd)}` differently" for path in compare.differing_files(first)]
    if not all(one.searched for one in first):
        notes.append("the working directory holds too many files: not all were looked at for what the runs wrote")
    return notes + sorted({note for one in first for note in one.recording.notes})
