"""Evidence for programs: schema 1. Keys may be added, never renamed or removed."""

from __future__ import annotations

from collections.abc import Iterable

from d9mlint.model import Evidence, EvidenceReport, Tally, Unexecuted
from d9mlint.report.json_ import SCHEMA, Json, dump


def render(report: EvidenceReport) -> str:
    """The report as one JSON object, its keys in a fixed order."""
    return dump(data(report))


def data(report: EvidenceReport) -> Json:
    """The report as plain data."""
    return {
        "schema": SCHEMA,
        "environment": dict(report.environment),
        "evidence": [evidence_of(one) for one in report.evidence],
        "unexecuted": _unexecuted(report.unexecuted),
        "unchecked": [{"path": one.path, "reason": one.reason} for one in report.unchecked],
        "partial": bool(report.stopped),
        "stopped": report.stopped or None,
        "unfinished": _unexecuted(report.unfinished),
    }


def _unexecuted(several: Iterable[Unexecuted]) -> list[Json]:
    return [{"op": one.op, "reason": one.reason} for one in several]


def evidence_of(one: Evidence) -> Json:
    """One verdict with all that it rests on."""
    case = one.case
    return {
        "op": case.op,
        "case": case.name,
        "finding": one.findings[0] if one.findings else None,
        "findings": list(one.findings),
        "framework": case.framework,
        "direction": case.direction,
        "execution": case.execution,
        "dtype": case.dtype,
        "autocast": case.autocast or None,
        "like": case.like or None,
        "unlike": one.unlike or None,
        "device": one.device or None,
        "verdict": one.verdict,
        "verdicts": list(one.verdicts),
        "runs": one.runs,
        "processes": one.processes,
        "distinct": one.distinct,
        "differing": one.differing,
        "share": round(one.differing / one.runs, 6) if one.runs else None,
        "first_differing": one.first_differing,
        "bound": None if one.bound is None else round(one.bound, 6),
        "max_ulp": one.max_ulp,
        "max_relative": one.max_relative,
        "ulp_histogram": list(one.ulp_histogram),
        "elements": one.elements,
        "nan": one.nan,
        "inf": one.inf,
        "inputs": one.inputs,
        "threads": _tallies(one.tallies),
        "deterministic_mode": one.deterministic_mode,
        "deterministic_threads": _tallies(one.deterministic),
        "raised": one.raised,
        "overhead": _overhead(one),
        "note": one.note,
    }


def _tallies(several: Iterable[Tally]) -> list[Json]:
    return [
        {
            "threads": one.threads or "default", "processes": one.processes, "runs": one.runs,
            "distinct": one.distinct, "differing": one.differing, "variant": one.variant or None,
            "bound": None if one.bound is None else round(one.bound, 6),
        }
        for one in several
    ]  # fmt: skip


def _overhead(one: Evidence) -> Json | None:
    if one.overhead is None:
        return None
    cost = one.overhead
    return {
        "ratio": round(cost.ratio, 4), "low": round(cost.low, 4), "high": round(cost.high, 4),
        "default_ms": round(cost.default_ms, 4), "deterministic_ms": round(cost.deterministic_ms, 4),
        "blocks": cost.blocks, "processes": cost.processes, "seed": cost.seed,
    }  # fmt: skip
