"""Reports about kernel sources: one pure function a format, all byte-identical for equal reports."""

from __future__ import annotations

from importlib import import_module

from d9mlint.model import KernelReport, UsageError

_HOMES = {"text": "kernels.text", "json": "kernels.json_", "sarif": "sarif", "html": "kernels.page", "github": "github"}
FORMATS = tuple(_HOMES)

__all__ = ["FORMATS", "prepare", "render"]


def prepare(format: str) -> None:
    """Imports what writes a format, where there is time for it before the report is there."""
    import_module(f"d9mlint.report.{_HOMES[format]}")


def render(
    report: KernelReport, format: str, *, everything: bool = False, color: bool = False, width: int = 100
) -> str:
    """``report`` in one of ``FORMATS``; ``everything``, ``color`` and ``width`` concern only ``text``."""
    if report.build and format in ("text", "html"):
        from d9mlint.report.kernels.builds import grouped

        report = grouped(report)
    if format == "text":
        from d9mlint.report.kernels import text

        return text.render(report, everything=everything, color=color, width=width)
    if format == "json":
        from d9mlint.report.kernels import json_

        return json_.render(report)
    if format == "html":
        from d9mlint.report.kernels import page

        return page.render(report)
    if format in ("sarif", "github"):  # formats that know findings only
        from d9mlint.report import render as render_findings

        return render_findings(report.report, format)
    raise UsageError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}")
