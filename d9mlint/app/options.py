"""What a run is asked for, and what comes out of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from d9mlint.model import SEVERITIES, UsageError

if TYPE_CHECKING:
    from d9mlint.catalogue import Catalogue
    from d9mlint.discover.changed import Since
    from d9mlint.model import Report, Rule
    from d9mlint.python.batch.run import Watch


class Options(NamedTuple):
    """What the command line asks for; None where the configuration decides."""

    paths: tuple[Path, ...]
    target: tuple[str, ...] = ()
    device: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str | None = None
    min_confidence: str | None = None
    config: Path | None = None
    baseline: Path | None = None
    write_baseline: Path | None = None
    jobs: int = 0
    cache: bool = True
    argv: tuple[str, ...] | None = None
    launcher: str | None = None
    """The launch script (``path`` or ``path:line``) whose environment and arguments the program is judged with."""
    fix: bool = False
    diff: bool = False
    fixes: bool = False
    """With ``diff``: the report has the patch of each finding as a fix of it, instead of one patch of all."""
    unsafe_fixes: bool = False
    """Fix also what changes the speed or the behaviour of a program: deterministic ops, autotuning."""
    plan: bool = False
    """Tell also what each program does about its determinism."""
    timeout: float | None = None
    """Seconds of CPU time that an entry may take."""
    stdin: bytes | None = None
    """What the one file that is named holds, instead of what is on disk."""
    since: Since | None = None
    """Judge only the entries whose programs reach a file that differs from this."""
    concerning: tuple[Path, ...] = ()
    """Judge only the entries whose programs reach one of these files: those that are open in an editor."""
    evidence: tuple[Path, ...] = ()
    """Files that ``verify --record`` wrote."""
    watch: Watch | None = None
    """To be told how far the run is."""


class Outcome(NamedTuple):
    """A report and the exit code that it deserves; ``text`` where something else than the report is to be shown."""

    report: Report
    code: int
    text: str | None = None
    note: str = ""
    """What was done besides, for the error stream."""


def shown(path: Path, cwd: Path) -> str:
    """A path as reports show it: relative to the working directory, ``/``-separated; empty for that directory."""
    text = os.path.relpath(path, cwd).replace(os.sep, "/")
    if text.startswith("../") and path.is_absolute():  # spelled through a link to the working directory, perhaps
        real = Path(_real(path.parent)) / path.name
        text = os.path.relpath(real, cwd).replace(os.sep, "/") if real.is_relative_to(cwd) else text
    return "" if text == "." else text


@lru_cache(maxsize=10_000)
def _real(folder: Path) -> str:
    """The folder without links; a run asks for the same few again for each of their files."""
    return os.path.realpath(folder)


def start(paths: Sequence[Path]) -> Path:
    """Where the search for the configuration begins."""
    first = paths[0]
    return first if first.is_dir() else first.parent


def selected(catalogue: Catalogue, select: Sequence[str], ignore: Sequence[str]) -> tuple[Rule, ...]:
    """The rules to run; names, ids, families and ``all`` can be selected and ignored."""
    from difflib import get_close_matches

    from d9mlint import suppress

    known = [*catalogue.rules.values(), *suppress.RULES]
    names = {n for r in known for n in (r.name, r.id, r.family)} | {"all"}
    for name in (*select, *ignore):
        if name not in names:
            close = get_close_matches(name, sorted(names), 1)
            hint = f"did you mean {close[0]!r}?" if close else "see `d9mlint rules list`"
            raise UsageError(f"no rule, id or family is called {name!r}; {hint}")

    return tuple(r for r in catalogue.rules.values() if is_selected(r, select, ignore))


def is_selected(rule: Rule, select: Sequence[str], ignore: Sequence[str]) -> bool:
    """Whether the rule is among those that were asked for."""

    def meant(wanted: Sequence[str]) -> bool:
        return any(w in ("all", rule.name, rule.id, rule.family) for w in wanted)

    return (not select or meant(select)) and not meant(ignore)


def exit_code(report: Report, fail_on: str) -> int:
    """0, 1 or 3 of the contract (2 is an exception); ``fail_on`` is a severity, ``confirmed``, or one of each."""
    from d9mlint.model.evidence import CONFIRMED

    if report.unchecked:
        return 3
    words = fail_on.split(",")
    least = min((SEVERITIES.index(word) for word in words if word != CONFIRMED), default=len(SEVERITIES))
    fails = (SEVERITIES.index(f.severity) >= least or (CONFIRMED in words and f.confirmed) for f in report.findings)
    return int(any(fails))
