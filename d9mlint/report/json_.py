"""The report for programs: schema 1. Keys may be added, never renamed or removed."""

from __future__ import annotations

import json

from d9mlint.model import (
    Backing,
    Changed,
    Coverage,
    Edit,
    Finding,
    Fix,
    InProgram,
    Location,
    OpCall,
    Parting,
    PlanRow,
    Related,
    Report,
    Target,
)
from d9mlint.report.targets import groups, packages, paths
from d9mlint.report.words import encodable

SCHEMA = 1
Json = dict[str, object]


def render(report: Report, *, plan: bool = False) -> str:
    """The report as one JSON object, its keys in a fixed order; ``plan``: with the determinism plan of each program."""
    return dump(
        {
            "schema": SCHEMA,
            "target": target_of(report),
            "entries": list(report.entries),
            "files": report.files,
            **({"changed": changed_of(report.changed)} if report.changed is not None else {}),
            **({"launches": launches_of(report)} if report.launches else {}),
            "findings": [finding_of(finding) for finding in report.findings],
            "suppressed": report.suppressed,
            "baselined": report.baselined,
            "hidden": report.hidden,
            "coverage": [_coverage(entry, one) for entry, one in sorted(report.coverage.items())],
            "unchecked": [{"path": one.path, "reason": one.reason} for one in report.unchecked],
            **({"plans": {entry: [_row(row) for row in rows] for entry, rows in report.plans.items()}} if plan else {}),
        }
    )


def _row(row: PlanRow) -> Json:
    where = _location(row.location) if row.location is not None else {}
    return {"section": row.section, "subject": row.subject, "text": row.text, **where, "when": list(row.when)}


def _coverage(entry: str, one: Coverage) -> Json:
    return {
        "entry": entry,
        "interpreted": one.interpreted,
        **({} if one.kept else {"kept": False}),
        "files": one.files,
        "functions": one.functions,
        **({"coarse": one.coarse} if one.coarse else {}),
        "uncalled": dict(one.uncalled),
        "unfollowed": [
            {**_location(call.location), "call": call.call, "reason": call.reason} for call in one.unfollowed
        ],
    }


def dump(data: Json) -> str:
    """Readable UTF-8 JSON; lone surrogates (undecodable file names) are written as escapes."""
    return encodable(json.dumps(data, indent=2, ensure_ascii=False)) + "\n"


def changed_of(changed: Changed) -> Json:
    """What the run was limited to, as every report of the schema shows it."""
    return {
        "since": changed.since or None, "staged": changed.staged, "files": list(changed.files),
        "entries": changed.entries, "left_out": changed.left_out,
    }  # fmt: skip


def target_of(report: Report) -> Json:
    """The target that most paths share, and ``by_entry`` with each path's own where they differ."""
    found = groups(report)
    if not found:
        return {"device": None, "packages": {}}
    main = _target(found[0].target)
    if len(found) == 1:
        return main
    return {**main, "by_entry": {path: _target(report.targets[path]) for path in paths(report)}}


def launches_of(report: Report) -> list[Json]:
    """Who starts the entries, with which environment (None: a value that is not known) and arguments."""
    return [
        {
            "entry": entry,
            "path": launch.location.path,
            "line": launch.location.line,
            "environment": {variable.name: variable.value for variable in launch.environment},
            "arguments": list(launch.arguments),
        }
        for entry, launches in sorted(report.launches.items())
        for launch in launches
    ]


def _target(target: Target) -> Json:
    return {
        "device": target.device,
        "packages": {
            name: {"version": package.version, "reason": package.reason} for name, package in packages(target)
        },
    }


def finding_of(finding: Finding) -> Json:
    """A finding as every report of the schema shows it."""
    return {
        "rule": finding.rule,
        "id": finding.id,
        "hazard": finding.hazard,
        "message": finding.message,
        **_location(finding.location),
        "severity": finding.severity,
        "confidence": finding.confidence,
        "noise": finding.noise,
        "when": list(finding.when),
        "remedy": finding.remedy,
        "related": [_related(related) for related in finding.related],
        "fixes": [_fix(fix) for fix in finding.fixes],
        "fingerprint": finding.fingerprint,
        "cause": finding.cause,
        "entries": list(finding.entries),
        **(
            {"programs": [_program(one) for one in finding.programs]}
            if len(finding.programs) > 1 or finding.apart
            else {}
        ),
        **({"ops": list(finding.ops)} if finding.ops else {}),
        **({"calls": [_call(one) for one in finding.calls]} if finding.calls else {}),
        **backing_of(finding),
    }


def _program(one: InProgram) -> Json:
    """Where the script of one of several programs comes to a finding, and when."""
    at = one.reached
    cell = {"cell": at.cell} if at is not None and at.cell else {}
    where = {} if at is None else {**cell, "line": at.line, "column": at.column}
    return {"entry": one.entry, **where, "when": list(one.when)}


def _call(call: OpCall) -> Json:
    """How an op is called; keys of what is not seen are left out."""
    told = {**call._asdict(), "arguments": dict(call.arguments), "shapes": dict(call.shapes)}
    return {key: value for key, value in told.items() if value}


def backing_of(finding: Finding) -> Json:
    """What executing its ops has shown; no keys where nothing is known."""
    if not finding.evidence:
        return {}
    return {"confirmed": finding.confirmed, "evidence": [_backing(one) for one in finding.evidence]}


def _backing(one: Backing) -> Json:
    record = one.record
    if isinstance(record, Parting):
        return {
            "program": record.program, "step": record.step, "path": record.path, "line": record.line, "op": record.op,
            "kind": record.kind, "device": record.device or None, "versions": dict(record.versions),
            "file": record.file, "differs": list(one.differs), "confirms": one.confirms, "text": one.told,
        }  # fmt: skip
    return {
        "op": record.op, "case": record.case, "framework": record.framework, "version": record.version,
        "versions": dict(record.versions), "device": record.device or None, "hardware": record.hardware,
        "cores": record.cores, "direction": record.direction, "execution": record.execution, "dtype": record.dtype,
        "verdict": record.verdict, "deterministic_mode": record.deterministic_mode, "runs": record.runs,
        "differing": record.differing, "max_ulp": record.max_ulp, "date": record.date or None, "file": record.file,
        "own": record.own, "differs": list(one.differs), "confirms": one.confirms, "text": one.told,
    }  # fmt: skip


def _location(location: Location) -> Json:
    return {
        "path": location.path,
        **({"cell": location.cell} if location.cell else {}),
        "line": location.line,
        "column": location.column,
        "end_line": location.end_line,
        "end_column": location.end_column,
    }


def _related(related: Related) -> Json:
    place = related.location
    cell = {"cell": place.cell} if place.cell else {}
    rule = {"rule": related.rule} if related.rule else {}
    return {"path": place.path, **cell, "line": place.line, "column": place.column, "note": related.note, **rule}


def _fix(fix: Fix) -> Json:
    return {"message": fix.message, "safe": fix.safe, "edits": [_edit(edit) for edit in fix.edits]}


def _edit(edit: Edit) -> Json:
    return {**_location(edit.location), "text": edit.text}
