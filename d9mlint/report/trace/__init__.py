"""What ``d9mlint trace`` saw, as text and a page for people, and as JSON for programs."""

from __future__ import annotations

from d9mlint.model import TraceReport, UsageError

FORMATS = ("text", "json", "html")

__all__ = ["FORMATS", "render"]


def render(report: TraceReport, format: str, *, color: bool = False, width: int = 100) -> str:
    """``report`` in one of ``FORMATS``."""
    if format == "text":
        from d9mlint.report.trace import text

        return text.render(report, color=color, width=width)
    if format == "json":
        from d9mlint.report.trace import json_

        return json_.render(report)
    if format == "html":
        from d9mlint.report.trace import page

        return page.render(report)
    raise UsageError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}")
