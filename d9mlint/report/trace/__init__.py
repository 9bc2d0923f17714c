"""What ``d9mlint trace`` saw, as text for people and JSON for programs."""

from __future__ import annotations

from d9mlint.model import TraceReport, UsageError

FORMATS = ("text", "json")

__all__ = ["FORMATS", "render"]


def render(report: TraceReport, format: str, *, color: bool = False, width: int = 100) -> str:
    """``report`` in one of ``FORMATS``."""
    if format == "text":
        from d9mlint.report.trace import text

        return text.render(report, color=color, width=width)
    if format == "json":
        from d9mlint.report.trace import json_

        return json_.render(report)
    raise UsageError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}")
