"""A traced program for programs: schema 1. Keys may be added, never renamed or removed."""

from __future__ import annotations

from d9mlint.model import (
    Apart,
    Culprit,
    CureTried,
    SeenTensor,
    Shadowed,
    SwitchTried,
    TracedRun,
    TraceReport,
    UnseededDraw,
)
from d9mlint.report.json_ import SCHEMA, Json, dump


def render(report: TraceReport) -> str:
    """The report as one JSON object, its keys in a fixed order."""
    return dump(data(report))


def data(report: TraceReport) -> Json:
    """The report as plain data."""
    found = report.comparison
    return {
        "schema": SCHEMA,
        "program": report.program,
        "verdict": found.verdict,
        "step": found.step,
        "what": found.what,
        "steps": found.steps,
        "bound": None if report.bound is None else round(report.bound, 6),
        "switches": [_switch(one) for one in report.switches],
        "culprits": [_culprit(one) for one in report.culprits],
        "growth": [_apart(one) for one in report.growth],
        "cure": None if report.cure is None else _cure(report.cure),
        "shadow": None if report.shadow is None else _shadow(report.shadow),
        "draws": [_draw(one) for one in report.draws],
        "environment": dict(report.environment),
        "runs": [_run(one) for one in report.runs],
        "notes": list(report.notes),
        "partial": bool(report.stopped),
        "stopped": report.stopped or None,
    }


def _switch(one: SwitchTried) -> Json:
    found = one.comparison
    return {
        "name": one.name, "changes": one.changes, "verdict": found.verdict, "step": found.step, "what": found.what,
        "decides": one.decides,
    }  # fmt: skip


def _culprit(one: Culprit) -> Json:
    return {
        "path": one.path or None, "line": one.line or None, "op": one.op, "kind": one.kind,
        "direction": one.direction, "inputs": one.inputs, "note": one.note, "finding": one.finding or None,
        "tensors": [_tensor(each) for each in one.tensors], "call": one.call or None,
    }  # fmt: skip


def _tensor(one: SeenTensor) -> Json:
    return {
        "role": one.role, "dtype": one.dtype or None, "shape": list(one.shape) if one.dtype else None,
        "digests": [text or None for text in one.digests], "same": one.same,
    }  # fmt: skip


def _draw(one: UnseededDraw) -> Json:
    return {
        "path": one.path, "line": one.line, "op": one.op, "generator": one.generator,
        "seeded": one.seeded or None,
    }  # fmt: skip


def _apart(one: Apart) -> Json:
    return {"step": one.step, "losses": list(one.losses), "loss_ulp": one.loss_ulp, "l2": one.l2, "ulp": one.ulp}


def _cure(one: CureTried) -> Json:
    found = one.comparison
    ratio = (
        None if one.cost is None else dict(zip(("ratio", "low", "high"), (round(n, 4) for n in one.cost), strict=True))
    )
    return {
        "verdict": found.verdict, "step": found.step, "what": found.what, "steps": found.steps,
        "patched": list(one.patched), "cured": list(one.cured), "left": list(one.left),
        "cost": None if ratio is None else {**ratio, "blocks": one.blocks, "timed": one.timed}, "diff": one.diff,
    }  # fmt: skip


def _shadow(one: Shadowed) -> Json:
    return {
        "repeats": one.repeats, "ops": one.ops, "steps": one.steps, "varying": [_culprit(each) for each in one.varying],
        "what": one.what,
    }  # fmt: skip


def _run(one: TracedRun) -> Json:
    return {
        "stage": one.stage, "switch": one.switch, "number": one.number, "steps": one.steps, "ended": one.ended,
        "wrote": list(one.wrote), "partial": one.partial,
    }  # fmt: skip
