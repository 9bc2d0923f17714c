"""A study for programs: schema 1. Keys may be added, never renamed or removed."""

from __future__ import annotations

import math

from d9mlint.model.study import Spread, StudyReport
from d9mlint.report.json_ import SCHEMA, Json, dump


def render(report: StudyReport) -> str:
    """The report as one JSON object, its keys in a fixed order."""
    return dump(
        {
            "schema": SCHEMA,
            "program": report.program,
            "metric": report.metric,
            "asked": report.asked,
            "groups": [_spread(one) for one in report.spreads],
            "total": report.total,
            "detectable": report.detectable,
            "difference": report.difference,
            "needed": report.needed,
            "environment": dict(report.environment),
            "notes": list(report.notes),
            "partial": bool(report.stopped),
            "stopped": report.stopped or None,
        }
    )


def _spread(one: Spread) -> Json:
    return {
        "group": one.group, "values": [value if math.isfinite(value) else str(value) for value in one.values],
        "mean": one.mean if one.mean is not None and math.isfinite(one.mean) else None, "deviation": one.deviation,
        "churn": one.churn, "distance": one.distance, "failed": list(one.failed),
    }  # fmt: skip
