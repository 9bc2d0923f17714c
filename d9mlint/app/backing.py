"""What executing ops has shown, beside the findings that it bears on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from d9mlint.app.options import shown
from d9mlint.catalogue.observed import own_records, read_partings, read_records
from d9mlint.model import ABOUT_OPS, NEWEST, OUTCOMES, Backing, Finding, Location, Op, Parting, Record, Report, Target
from d9mlint.model.trace import OP

_RELEASE = re.compile(r"\d+(?:\.\d+)?")
_UNCURED = ("det-mode-fixes", "det-mode-raises")


def named(files: Sequence[Path], cwd: Path) -> tuple[Record, ...]:
    """The records of the files that the user named.

    Raises:
        UsageError: a file is not there or is no evidence.
    """
    return read_records([(path, shown(path, cwd)) for path in files])


def traced(files: Sequence[Path], cwd: Path) -> tuple[Parting, ...]:
    """What reports of `trace` among the files that the user named have seen.

    Raises:
        UsageError: a file is not there or is no evidence.
    """
    return read_partings([(path, shown(path, cwd)) for path in files])


def backed(
    report: Report, given: Sequence[Record], seen: Sequence[Parting], ops: Sequence[Op], targets: Mapping[str, Target]
) -> Report:  # fmt: skip
    """The report with its evidence; findings that it confirms come first within their file.

    The project's own evidence is added where it is about the device of the target. It confirms nothing and moves
    nothing, and no evidence takes a finding away.
    """
    about_ops = any(_is_about_ops(finding) for finding in report.findings)
    if not about_ops and not seen:
        return report
    records = [*given, *own_records(devices={target.device for target in targets.values()})] if about_ops else []
    by_name = {op.name: op for op in ops}

    def bearing(finding: Finding) -> tuple[Backing, ...]:
        mine = _targets(finding, targets)
        found = [*_parting(finding, seen, mine)]
        return _sorted([*found, *(_bearing(finding, records, by_name, mine) if _is_about_ops(finding) else ())])

    findings = [finding._replace(evidence=bearing(finding)) for finding in report.findings]
    return report._replace(findings=tuple(sorted(findings, key=_order)))


def _parting(finding: Finding, seen: Sequence[Parting], targets: Sequence[Target]) -> Iterator[Backing]:
    """Where runs of the program parted at what the finding is about.

    An op varies by device and release; what is drawn, listed or read in another way in each run is so everywhere.
    """
    named = f"{finding.location.path}:{finding.location.line} {finding.rule}"
    for one in seen:
        if one.finding != named:
            continue
        differs = min((_elsewhere(one, target) for target in targets), key=len, default=()) if one.kind == OP else ()
        yield Backing(one, differs, not differs)


def _elsewhere(one: Parting, target: Target) -> tuple[str, ...]:
    """What the target has instead of what the program ran with."""
    found = [f"device {target.device}"] if one.device != target.device else []
    for name, version in one.versions:
        package = target.packages.get(name) if name != "python" else None
        if package is not None and _release(package.version) != _release(version):
            assumed = f" assumed, the {NEWEST}" if package.reason == NEWEST else ""
            found.append(f"{name} {package.version}{assumed}")
    return tuple(found)


def _is_about_ops(finding: Finding) -> bool:
    return bool(finding.ops) and finding.rule in ABOUT_OPS


def _order(finding: Finding) -> tuple[str, int, Location, str, str, tuple[str, ...]]:
    """As ever, but within a file what is confirmed comes first, gravest first."""
    graves = [OUTCOMES.index(one.record.verdict) for one in finding.evidence if one.confirms]
    return (finding.location.path, min(graves, default=len(OUTCOMES)), *finding.sort_key)


def _targets(finding: Finding, targets: Mapping[str, Target]) -> list[Target]:
    """What the finding was judged for: its programs, else its file."""
    return [targets[path] for path in (finding.entries or (finding.location.path,)) if path in targets]


def _bearing(
    finding: Finding, records: Iterable[Record], ops: Mapping[str, Op], targets: Sequence[Target]
) -> list[Backing]:
    found = []
    for record in records:
        if not targets or not _is_about(record, finding, ops):
            continue
        differs = min((_differs(record, target) for target in targets), key=len)
        if record.own and not any(record.device == target.device for target in targets):
            continue
        same = not record.own and not differs
        lasting = any(_lasts(ops.get(record.op), target) for target in targets)
        found.append(Backing(record, differs, same and _shows(finding.rule, record, lasting)))
    return found


def _sorted(found: Sequence[Backing]) -> tuple[Backing, ...]:
    """What bears most first."""
    return tuple(
        sorted(found, key=lambda one: (one.record.own, not one.confirms, bool(one.differs), one.record.strength))
    )


def _is_about(record: Record, finding: Finding, ops: Mapping[str, Op]) -> bool:
    """Whether a record bears on a finding: by the entry, or by the call.

    An op that varies on a CPU and on a GPU for different reasons has an entry for each; what was executed for one of
    them on the other's device tells of the other.
    """
    if record.op in finding.ops:
        return True
    executed = ops.get(record.op)
    mine = (ops[name] for name in finding.ops if name in ops)
    return executed is not None and any(
        op.devices == (record.device,) and op.devices != executed.devices and set(op.calls) <= set(executed.calls)
        for op in mine
    )


def _differs(record: Record, target: Target) -> tuple[str, ...]:
    """What the target has instead: another device, another minor release of the framework."""
    found = []
    if record.device and record.device != target.device:
        found.append(f"device {target.device}")
    package = target.packages.get(record.framework)
    if package is not None and _release(package.version) != _release(record.version):
        assumed = f" assumed, the {NEWEST}" if package.reason == NEWEST else ""
        found.append(f"{record.framework} {package.version}{assumed}")
    return tuple(found)


def _release(version: str) -> str:
    """``2.13`` of ``2.13.0+cpu``: patch releases and builds count as the same."""
    found = _RELEASE.match(version)
    return found.group() if found else version


def _lasts(op: Op | None, target: Target) -> bool:
    """Whether the catalogue says that the op varies in deterministic mode, too."""
    status = op.at(target) if op else None
    return status is not None and status.deterministic_mode == "varies"


def _shows(rule: str, record: Record, lasting: bool) -> bool:
    """Whether the record shows what the finding says."""
    if rule == "op-raises":
        return record.deterministic_mode == "det-mode-raises"
    if lasting and rule == "nondeterministic-op":  # said to vary whatever the switch
        return record.leaks or (record.varied and record.deterministic_mode not in _UNCURED)
    return record.varied or record.leaks
