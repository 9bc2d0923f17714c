"""The data flow of ``d9mlint verify``: what to execute -> child processes -> observations -> verdicts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from d9mlint import config as configuration
from d9mlint.app.machine import machine
from d9mlint.app.options import Options, start
from d9mlint.catalogue import load
from d9mlint.catalogue.cases import read_cases
from d9mlint.model import Case, Evidence, EvidenceReport, Finding, Unchecked, Unexecuted, UsageError
from d9mlint.model.evidence import HARNESS, UNTESTED
from d9mlint.verify import plan as planning
from d9mlint.verify.judge import judged
from d9mlint.verify.plan import Flagged, Plan
from d9mlint.verify.process import SCRIPT
from d9mlint.verify.run import Machine, Settings, observe

CONFIRMED, FAILED = 1, 3
_SECONDS = 0.7
"""For the runs of a case in one process, where nothing is said."""
_WITHIN = 0.8
"""So much of the time for an answer runs may take that were asked for."""
_BESIDES = 10.0
"""Seconds of an answer besides its runs."""
_STARTUP = 3.0
"""Importing a framework may take as many times as long as an answer."""
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


@dataclass(slots=True)
class Verifying:
    """What has been seen so far, so that an interruption leaves a partial report."""

    plan: Plan
    found: list[Evidence] = field(default_factory=list)
    environment: dict[str, object] = field(default_factory=dict)
    stopped: str = ""
    absent: dict[str, str] = field(default_factory=dict)
    """Frameworks that nobody asked for by name and that the interpreter lacks, with what it says."""

    def left(self) -> list[Case]:
        """The cases that were not come to."""
        done = {one.case.key for one in self.found}
        return [case for case in self.plan.cases if case.key not in done and case.framework not in self.absent]

    def report(self) -> EvidenceReport:
        """The report: gravest first, and what was not come to."""
        lacking = (Unexecuted(name, why) for name, why in sorted(self.absent.items()))
        ordered = sorted(self.found, key=lambda one: one.gravity)
        unfinished = tuple(Unexecuted(case.key, self.stopped) for case in self.left()) if self.stopped else ()
        return EvidenceReport(
            tuple(ordered),
            self.environment,
            (*self.plan.unexecuted, *lacking),
            self.plan.unchecked,
            unfinished,
            self.stopped,
        )


def planned(options: VerifyOptions) -> Plan:
    """What is to be executed.

    Raises:
        UsageError: nothing was named, the path is not found, an op is unknown.
        CatalogueError: a case is broken.
    """
    asked = (options.path is not None, bool(options.ops), options.all)
    if sum(asked) != 1:
        raise UsageError("name one of: a script, a report of `check --format json`, --op NAME, --all")
    if options.path is not None and not options.path.is_file():
        raise UsageError(f"path not found: {options.path}")
    config = configuration.load(start((options.path or Path.cwd(),)), options.config)
    known = read_cases(config.catalogues)
    aliases = load(config.catalogues).aliases
    if options.path is None:
        plan = planning.named(options.ops, known, aliases, options.framework)
        return planning.restricted(plan, options.framework, options.executions)
    found, unchecked = _linted(options) if options.path.suffix != ".json" else (planning.read_report(options.path), ())
    plan = planning.flagged(found, known, aliases)
    plan = planning.restricted(plan, options.framework, options.executions)
    return replace(plan, unchecked=unchecked)


def _linted(options: VerifyOptions) -> tuple[list[Flagged], tuple[Unchecked, ...]]:
    """The findings in a script, and what could not be checked; it is read, never run."""
    from d9mlint.app.programs import checked

    assert options.path is not None
    device = None if options.device == "auto" else options.device
    report = checked(Options((options.path,), device=device, config=options.config)).report
    return [_about(finding) for finding in report.findings], report.unchecked


def _about(finding: Finding) -> Flagged:
    return Flagged(f"{finding.location.path}:{finding.location.line} {finding.rule}", finding.ops, finding.rule)


def announcement(plan: Plan, options: VerifyOptions) -> str:
    """What is about to be executed, by which interpreter."""
    ops = len({case.op for case in plan.cases})
    interpreter = options.python or "this interpreter"
    cases = f"{len(plan.cases)} case{'' if len(plan.cases) == 1 else 's'}"
    return (
        f"will execute {cases} of {ops} op{'' if ops == 1 else 's'} from the catalogue "
        f"({', '.join(plan.frameworks)}) in child processes of {interpreter}, on made-up inputs, "
        f"up to {options.runs} runs in each, for at most {_seconds(plan, options):.2g} s a case; no other code is run"
    )


def _share(plan: Plan, options: VerifyOptions) -> float:
    """What a script has flagged takes about half a minute, however much that is; the frameworks' start comes on top."""
    return 1.0 if options.path is None else min(1.0, _FEW / max(len(plan.cases), 1))


def _seconds(plan: Plan, options: VerifyOptions) -> float:
    """How long a case is repeated in one process: runs that were asked for are made unless they take too long."""
    if options.seconds is not None:
        return options.seconds
    return _WITHIN * options.timeout if options.runs_asked else _SECONDS * _share(plan, options)


def verify(plan: Plan, options: VerifyOptions, progress: Callable[[Case], None] = lambda _: None) -> Verifying:
    """Executes the plan; Ctrl-C and the end of the time leave what was seen until then."""
    state = Verifying(plan, environment=machine())
    end = None if options.time is None else time.monotonic() + options.time
    command = (options.python or sys.executable, str(SCRIPT))
    share, seconds = _share(plan, options), _seconds(plan, options)
    settings = Settings(
        command, options.device, options.runs, seconds, patience=2.0 * share,
        timeout=max(options.timeout, seconds + _BESIDES),
        startup=_STARTUP * options.timeout, memory=int(options.memory * 2**30), deadline=end,
    )  # fmt: skip
    try:
        for framework in plan.frameworks:
            _framework(
                [case for case in plan.cases if case.framework == framework],
                framework,
                settings,
                state,
                progress,
                optional=options.all and options.framework is None and len(plan.frameworks) > 1,
            )
    except KeyboardInterrupt:
        state.stopped = "interrupted"
    if not state.stopped and state.left():
        state.stopped = f"the time of {options.time:g} s was over"
    elif state.absent and not any(one.runs for one in state.found):
        state.stopped = "the interpreter has none of the frameworks"
    elif state.found and all(one.verdict == UNTESTED for one in state.found):
        state.stopped = f"nothing was executed: {state.found[0].note}"
    return state


def _framework(
    cases: Sequence[Case], framework: str, settings: Settings, state: Verifying, progress: Callable[[Case], None],
    optional: bool = False,
) -> None:  # fmt: skip
    devices = tuple(sorted({device for case in cases for device in case.devices}))
    with Machine(framework, settings, devices) as machine:
        if optional and machine.absent:
            state.absent[framework] = machine.absent
            return
        state.environment[framework] = machine.environment
        for seen in observe(cases, machine):
            state.found.append(judged(seen, state.plan.findings.get(seen.case.op, ())))
            progress(seen.case)


def exit_code(report: EvidenceReport) -> int:
    """3: something could not be executed, or nothing was; 1: something was seen to vary; else 0.

    Nothing at all to execute, as no finding is about an op, is 0.
    """
    nothing = not report.evidence and bool(report.unexecuted)
    if nothing or report.stopped or report.unchecked or any(one.verdict == HARNESS for one in report.evidence):
        return FAILED
    return CONFIRMED if any(one.varied for one in report.evidence) else 0
