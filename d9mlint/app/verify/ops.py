"""The data flow of ``d9mlint verify``: what to execute -> child processes -> observations -> verdicts."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from d9mlint.app.machine import machine
from d9mlint.app.verify import plan as planning
from d9mlint.app.verify.plan import VerifyOptions
from d9mlint.model import Case, Evidence, EvidenceReport, Unexecuted
from d9mlint.model.evidence import HARNESS, UNTESTED
from d9mlint.model.target import version_fits
from d9mlint.verify import surroundings
from d9mlint.verify.child.machine import trouble
from d9mlint.verify.judge import judged
from d9mlint.verify.likening import unlike
from d9mlint.verify.plan import Plan
from d9mlint.verify.process import SCRIPT
from d9mlint.verify.run import Machine, Observed, Settings, observe

CONFIRMED, FAILED = 1, 3
_BESIDES = 10.0
"""Seconds of an answer besides its runs."""
_PATIENCE = 2.0
"""Seconds that a case is timed in both modes, where all cases have their time."""
_STARTUP = 3.0
"""Importing a framework may take as many times as long as an answer."""


@dataclass(slots=True)
class Verifying:
    """What has been seen so far, so that an interruption leaves a partial report."""

    plan: Plan
    found: list[Evidence] = field(default_factory=list)
    environment: dict[str, object] = field(default_factory=dict)
    stopped: str = ""
    absent: dict[str, str] = field(default_factory=dict)
    """Frameworks that nobody asked for by name and that the interpreter lacks, with what it says."""
    refused: list[Unexecuted] = field(default_factory=list)
    """Cases made like a call of a program that the op does not take."""
    instead: dict[str, Case] = field(default_factory=dict)
    """By the keys of such cases, the ones that are to be executed in their place."""
    done: set[str] = field(default_factory=set)
    """The keys of the cases that something is known of."""

    def left(self) -> list[Case]:
        """The cases that were not come to."""
        return [case for case in self.plan.cases if case.key not in self.done and case.framework not in self.absent]

    def report(self, stopped: str = "") -> EvidenceReport:
        """The report: gravest first, and what was not come to; ``stopped`` is why, where it is not over yet."""
        stopped = stopped or self.stopped
        lacking = (Unexecuted(name, why) for name, why in sorted(self.absent.items()))
        ordered = sorted(self.found, key=lambda one: one.gravity)
        unfinished = tuple(Unexecuted(case.key, stopped) for case in self.left()) if stopped else ()
        return EvidenceReport(
            tuple(ordered),
            self.environment,
            (*self.plan.unexecuted, *self.refused, *lacking),
            self.plan.unchecked,
            unfinished,
            stopped,
        )


class Watch(Protocol):
    """Is told where the run is."""

    def begin(self, case: Case) -> None:
        """The case is about to be executed."""

    def end(self) -> None:
        """It was."""


def verify(state: Verifying, options: VerifyOptions, watch: Watch | None = None) -> Verifying:
    """Executes the plan; Ctrl-C and the end of the time leave what was seen until then."""
    plan = state.plan
    state.environment.update(machine())
    if kept_from := surroundings.removed():
        state.environment["removed"] = kept_from
    end = None if options.time is None else time.monotonic() + options.time
    command = (options.python or sys.executable, str(SCRIPT))
    share, seconds = planning.share(plan, options), planning.seconds(plan, options)
    settings = Settings(
        command, options.device, options.runs, seconds, patience=_PATIENCE * share,
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
                watch,
                optional=options.all and options.framework is None and len(plan.frameworks) > 1,
            )
    except KeyboardInterrupt:
        state.stopped = "interrupted"
    if not state.stopped:
        state.stopped = _lacking(state, options)
    return state


def _lacking(state: Verifying, options: VerifyOptions) -> str:
    """Why a report is partial, or says nothing; empty for one that is neither."""
    if state.left():
        return f"the time of {options.time:g} s was over"
    if state.absent and not any(one.runs for one in state.found):
        return "the interpreter has none of the frameworks"
    return _nothing_said(state) if state.found and all(one.verdict == UNTESTED for one in state.found) else ""


def _nothing_said(state: Verifying) -> str:
    """Why a report in which all is untested says nothing."""
    if not any(one.runs for one in state.found):
        return f"nothing was executed: {state.found[0].note}"
    unused = (str(one["unused"]) for one in state.environment.values() if isinstance(one, dict) and one.get("unused"))
    why = next(unused, "") or trouble()
    return f"all entries are about the GPU, of which this CPU says nothing{f' ({why})' if why else ''}"


def _framework(
    cases: Sequence[Case], framework: str, settings: Settings, state: Verifying, watch: Watch | None,
    optional: bool = False,
) -> None:  # fmt: skip
    devices = tuple(sorted({device for case in cases for device in case.devices}))
    with Machine(framework, settings, devices) as machine:
        if optional and machine.absent:
            state.absent[framework] = machine.absent
            return
        state.environment[framework] = machine.environment
        try:
            for seen in observe(_with_others(cases, state), machine, watch.begin if watch else None):
                _judge(seen, state)
                if seen.case.key in state.instead:
                    continue
                state.done.add(seen.case.key)
                if watch is not None:
                    watch.end()
        except KeyboardInterrupt:
            _keep(machine.under_way, state)
            raise


def _keep(seen: Observed | None, state: Verifying) -> None:
    """What was seen of the case that was under way; it is not finished all the same."""
    if seen is None or not any(one.results for one in seen.observations):
        return
    found = judged(seen, state.plan.findings.get(seen.case.op, ()))
    number = len(seen.observations)
    cut = f"cut off after {number} process{'es' * (number != 1)}"
    state.found.append(found._replace(note="; ".join(filter(None, (cut, found.note)))))


def _with_others(cases: Sequence[Case], state: Verifying) -> Iterator[Case]:
    """The cases, and right after one that the op refused the one in its place."""
    for case in cases:
        yield case
        other = state.instead.pop(case.key, None)
        if other is not None:
            yield other
            state.done.add(case.key)


def _judge(seen: Observed, state: Verifying) -> None:
    """The verdict on a case; one that was made like a call, and that the op then refuses, says nothing."""
    case = seen.case
    found = judged(seen, state.plan.findings.get(case.op, ()))
    refused = next((one.raised for one in seen.observations if one.mode == "default" and one.raised), "")
    if case.instead is not None and found.verdict == HARNESS:
        state.instead[case.key] = case.instead
        return
    if case.like and found.verdict == HARNESS and refused:
        state.refused.append(Unexecuted(case.key, f"the case cannot be made like the call in {case.like}: {refused}"))
        return
    if found.verdict == HARNESS and refused and (other := _of_other_versions(case, state)):
        state.refused.append(Unexecuted(case.key, other))
        return
    calls = [one for one in state.plan.calls.get(case.op, ()) if case.like in ("", one.place)]
    state.found.append(found._replace(unlike=unlike(case, calls, seen.device)))


def _of_other_versions(case: Case, state: Verifying) -> str:
    """Why an op cannot be run: its entry is about other releases; empty where it is about this one."""
    environment = state.environment.get(case.framework)
    versions = environment.get("versions", {}) if isinstance(environment, dict) else {}
    version = str(versions.get(case.framework, ""))
    if not version or not case.versions or any(version_fits(version, one) for one in case.versions):
        return ""
    return f"the entry is about {case.framework} {' and '.join(case.versions)}; this is {version}"


def exit_code(report: EvidenceReport) -> int:
    """3: something could not be executed, or nothing was; 1: something was seen to vary; else 0.

    Nothing at all to execute, as no finding is about an op, is 0.
    """
    nothing = not report.evidence and bool(report.unexecuted)
    if nothing or report.stopped or report.unchecked or any(one.verdict == HARNESS for one in report.evidence):
        return FAILED
    return CONFIRMED if any(one.varied for one in report.evidence) else 0
