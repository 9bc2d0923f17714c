"""What ``d9mlint verify`` is asked for, and what it is to execute."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from d9mlint import config as configuration
from d9mlint.app.options import Options, start
from d9mlint.catalogue import load
from d9mlint.catalogue.schema.cases import read_cases
from d9mlint.model import Finding, Unchecked, UsageError
from d9mlint.verify import making
from d9mlint.verify import plan as planning
from d9mlint.verify.plan import Flagged, Plan

_SECONDS = 0.7
"""For the runs of a case in one process, where nothing is said."""
_WITHIN = 0.8
"""So much of the time for an answer runs may take that were asked for."""
_FEW = 6
"""Cases of a script that have the time of those that are named; of more, each has less."""


class VerifyOptions(NamedTuple):
    """What the command line asks for."""

    path: Path | None = None
    """A script to lint, or a report of ``check``."""
    ops: tuple[str, ...] = ()
    all: bool = False
    framework: str | None = None
    executions: tuple[str, ...] = ()
    """Only these ways to run a case; empty: all that do not take long."""
    device: str = "auto"
    runs: int = 50
    seconds: float | None = None
    """For the runs of a case in one process; None: a share of what all may take, unless ``runs`` was asked for."""
    runs_asked: bool = False
    time: float | None = None
    timeout: float = 60.0
    memory: float = 8.0
    """GiB that a process may take."""
    python: str | None = None
    config: Path | None = None
    make: Path | None = None
    """A file with a call to execute, instead of the catalogue's."""
    target: tuple[str, ...] = ()
    launcher: str | None = None
    argv: tuple[str, ...] | None = None
    """A script is judged as `check` would with these three."""


def planned(options: VerifyOptions) -> Plan:
    """What is to be executed.

    Raises:
        UsageError: nothing was named, the path is not found, an op is unknown.
        CatalogueError: a case is broken.
    """
    if options.make is not None:
        return _made(options, options.make)
    asked = (options.path is not None, bool(options.ops), options.all)
    if sum(asked) != 1:
        raise UsageError("name one of: a script, a report of `check --format json`, --op NAME, --all")
    if options.path is not None and not options.path.is_file():
        raise UsageError(f"path not found: {options.path}")
    is_script = options.path is not None and options.path.suffix != ".json"
    if not is_script and (options.target or options.launcher is not None or options.argv is not None):
        raise UsageError("--target, --launcher and arguments after -- go with a script")
    config = configuration.load(start((options.path or Path.cwd(),)), options.config)
    known = read_cases(config.catalogues)
    aliases = load(config.catalogues).aliases
    if options.path is None:
        plan = planning.named(options.ops, known, aliases, options.framework)
        return planning.restricted(plan, options.framework, options.executions)
    found, unchecked = _linted(options) if is_script else (planning.read_report(options.path), ())
    plan = planning.flagged(found, known, aliases)
    plan = planning.restricted(plan, options.framework, options.executions)
    return replace(plan, unchecked=unchecked)


def _made(options: VerifyOptions, file: Path) -> Plan:
    """The one case that a file of the user's is."""
    if options.path is not None or options.all or len(options.ops) != 1:
        raise UsageError("--make FILE.py goes with one --op NAME, the op that the file calls")
    made = making.read(file, options.ops[0], options.executions)
    return Plan((made.case,), {}, code=(str(file), *made.packages))


def _linted(options: VerifyOptions) -> tuple[list[Flagged], tuple[Unchecked, ...]]:
    """The findings in a script, and what could not be checked; it is read, never run."""
    from d9mlint.app.programs import checked

    assert options.path is not None
    device = None if options.device == "auto" else options.device.partition(":")[0]
    asked = Options(
        (options.path,), device=device, config=options.config, target=options.target, launcher=options.launcher,
        argv=options.argv,
    )  # fmt: skip
    report = checked(asked).report
    return [_about(finding) for finding in report.findings], report.unchecked


def _about(finding: Finding) -> Flagged:
    return Flagged(
        f"{finding.location.path}:{finding.location.line} {finding.rule}", finding.ops, finding.rule, finding.calls
    )


def announcement(plan: Plan, options: VerifyOptions) -> str:
    """What is about to be executed, by which interpreter."""
    ops = len({case.op for case in plan.cases})
    interpreter = options.python or "this interpreter"
    if plan.code:
        file, *packages = plan.code
        more = f", which imports {', '.join(packages)}" if packages else ""
        return (
            f"will execute code of yours: {file}{more}, in child processes of {interpreter}, "
            f"up to {options.runs} runs in each, for at most {seconds(plan, options):.2g} s in each"
        )
    cases = f"{len(plan.cases)} case{'' if len(plan.cases) == 1 else 's'}"
    return (
        f"will execute {cases} of {ops} op{'' if ops == 1 else 's'} from the catalogue "
        f"({', '.join(plan.frameworks)}) in child processes of {interpreter}, on made-up inputs, "
        f"up to {options.runs} runs in each, for at most {seconds(plan, options):.2g} s of a case in each; "
        "no other code is run"
    )


def share(plan: Plan, options: VerifyOptions) -> float:
    """What a script has flagged takes about half a minute, however much that is; the frameworks' start comes on top."""
    return 1.0 if options.path is None else min(1.0, _FEW / max(len(plan.cases), 1))


def seconds(plan: Plan, options: VerifyOptions) -> float:
    """How long a case is repeated in one process: runs that were asked for are made unless they take too long."""
    if options.seconds is not None:
        return options.seconds
    return _WITHIN * options.timeout if options.runs_asked else _SECONDS * share(plan, options)
