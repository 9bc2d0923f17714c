"""Reports as text: one pure function a format, all byte-identical for equal reports."""

from __future__ import annotations

from importlib import import_module

from d9mlint.model import Report, UsageError

_HOMES = {
    "text": "text", "concise": "concise", "json": "json_", "sarif": "sarif", "github": "github", "gitlab": "gitlab",
    "junit": "junit",
}  # fmt: skip
"""By format, the module whose `render` writes it; a run imports one of them."""
FORMATS = tuple(_HOMES)

__all__ = ["FORMATS", "render"]


def render(report: Report, format: str, *, color: bool = False, width: int = 100, verbose: bool = False) -> str:
    """``report`` in one of ``FORMATS``; ``color``, ``width`` and ``verbose`` concern only ``text``."""
    if format not in _HOMES:
        raise UsageError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}")
    module = import_module(f"d9mlint.report.{_HOMES[format]}")
    shown = {"color": color, "width": width, "verbose": verbose} if format == "text" else {}
    rendered: str = module.render(report, **shown)
    return rendered
