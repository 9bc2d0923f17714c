"""Reports as text: one pure function a format, all byte-identical for equal reports."""

from __future__ import annotations

from d9mlint.model import Report, UsageError

FORMATS = ("text", "json", "sarif", "github")

__all__ = ["FORMATS", "render"]


def render(
    report: Report, format: str, *, color: bool = False, width: int = 100, verbose: bool = False
) -> str:  # fmt: skip
    """``report`` in one of ``FORMATS``; ``color``, ``width`` and ``verbose`` concern only ``text``.

    Each format is imported when it is asked for: a run pays for one of them only.
    """
    if format == "text":
        from d9mlint.report import text

        return text.render(report, color=color, width=width, verbose=verbose)
    if format == "json":
        from d9mlint.report import json_

        return json_.render(report)
    if format == "sarif":
        from d9mlint.report import sarif

        return sarif.render(report)
    if format == "github":
        from d9mlint.report import github

        return github.render(report)
    raise UsageError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}")
