"""What ``d9mlint study`` saw, as text and a page for people, and as JSON for programs."""

from __future__ import annotations

from d9mlint.model import UsageError
from d9mlint.model.study import StudyReport

FORMATS = ("text", "json", "html")


def render(report: StudyReport, format: str, *, color: bool = False, width: int = 100) -> str:
    """``report`` in one of ``FORMATS``."""
    if format == "text":
        from d9mlint.report.study import text

        return text.render(report, color=color, width=width)
    if format == "json":
        from d9mlint.report.study import json_

        return json_.render(report)
    if format == "html":
        from d9mlint.report.study import page

        return page.render(report)
    raise UsageError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}")
