"""What there is to check in a folder, before anything is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from d9mlint.model.report import Report


class Overview(NamedTuple):
    """What ``d9mlint check .`` would look at."""

    report: Report
    """Without findings: entries, files, targets, who starts the entries, what cannot be read."""
    configs: tuple[tuple[str, str], ...] = ()
    """Config files and the kind that each is of."""
    sources: int = 0
    """C++ and CUDA sources."""
    kernels: tuple[str, ...] = ()
    """Python files that may hold kernels."""
    settings: str = ""
    """The configuration file; empty where there is none."""
