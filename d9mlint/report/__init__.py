"""Reports as text: one pure function a format, all byte-identical for equal reports."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from d9mlint.model import Report, UsageError

_HOMES = {
    "text": "text", "concise": "concise", "json": "json_", "sarif": "sarif", "github": "github", "gitlab": "gitlab",
    "junit": "junit", "html": "check.page",
}  # fmt: skip
"""By format, the module whose `render` writes it; a run imports one of them."""
FORMATS = tuple(_HOMES)

__all__ = ["FORMATS", "render"]


def render(
    report: Report, format: str, *, color: bool = False, width: int = 100, links: bool = False,
    verbose: bool = False, plan: bool = False,
) -> str:  # fmt: skip
    """``report`` in one of ``FORMATS``; ``color``, ``width``, ``links`` and ``verbose`` concern only ``text``.

    ``plan``: text is the determinism plan of each program instead of findings, JSON has it beside them.
    """
    if format not in _HOMES:
        raise UsageError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}")
    if plan and format == "text":
        from d9mlint.report import plan as page

        return page.render(report, color=color, width=width)
    module = import_module(f"d9mlint.report.{_HOMES[format]}")
    shown: dict[str, dict[str, Any]] = {
        "text": {"color": color, "width": width, "verbose": verbose, "links": links}, "json": {"plan": plan},
    }  # fmt: skip
    rendered: str = module.render(report, **shown.get(format, {}))
    return rendered
