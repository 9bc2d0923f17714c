"""The report about kernel sources as JSON: schema 1. Keys may be added, never renamed or removed."""

from __future__ import annotations

from d9mlint.model import Guard, KernelOp, KernelReport, LibraryCall, Location, Site, Step
from d9mlint.report.json_ import Json, dump, finding_of

SCHEMA = 1


def render(report: KernelReport) -> str:
    """The report as one JSON object, its keys in a fixed order."""
    scan, found = report.scan, report.report
    return dump(
        {
            "schema": SCHEMA,
            **({"build": report.build} if report.build else {}),
            "files_scanned": scan.files,
            "sites": [_site(site, site.location in report.silenced) for site in scan.sites],
            "ops": [_op(op) for op in scan.ops],
            "library_calls": [_call(call, call.location in report.silenced) for call in scan.library_calls],
            "findings": [finding_of(finding) for finding in found.findings],
            "suppressed": found.suppressed,
            "baselined": found.baselined,
            "hidden": found.hidden,
            **({"skipped": [{"path": one.path, "reason": one.reason} for one in scan.skipped]} if scan.skipped else {}),
            "unchecked": [{"path": one.path, "reason": one.reason} for one in found.unchecked],
        }
    )


def _site(site: Site, silenced: bool) -> Json:
    return {
        **_place(site.location),
        "end_line": site.location.end_line,
        "end_column": site.location.end_column,
        "function": site.function,
        "atomic": site.atomic,
        "intrinsic": site.intrinsic,
        "scope": site.scope,
        "form": site.form,
        "qualifier": site.qualifier,
        "memory": site.memory,
        "target_type": site.target_type,
        "return_used": site.return_used,
        "return_use": site.return_use,
        "class": site.class_,
        "implements": site.implements,
        "verdict": site.verdict,
        "reason": site.reason,
        "guard": _guard(site.guard),
        "ops": list(site.ops),
        "silenced": silenced,
    }


def _op(op: KernelOp) -> Json:
    return {
        "op": op.name,
        "framework": op.framework,
        "python": list(op.python),
        "direction": op.direction,
        "gradient_of": list(op.gradient_of),
        "guard": _guard(op.guard),
        "sites": [_at(location) for location in op.sites],
        "chain": [_step(step) for step in op.chain],
    }


def _call(call: LibraryCall, silenced: bool) -> Json:
    return {
        **_place(call.location),
        "end_line": call.location.end_line,
        "end_column": call.location.end_column,
        "function": call.function,
        "name": call.name,
        "rule": call.rule,
        "verdict": call.verdict,
        "reason": call.reason,
        "guard": _guard(call.guard),
        "ops": list(call.ops),
        "silenced": silenced,
    }


def _guard(guard: Guard) -> Json:
    told: Json = {"level": guard.level, "where": _at(guard.where) if guard.where is not None else None}
    return told | {"switch": guard.switch, "default": guard.default} if guard.switch else told


def _step(step: Step) -> Json:
    return {"where": _at(step.location), "text": step.text}


def _at(location: Location) -> str:
    return f"{location.path}:{location.line}"


def _place(location: Location) -> Json:
    return {"path": location.path, "line": location.line, "column": location.column}
