"""The machine that programs are executed on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from d9mlint import __version__


def machine() -> dict[str, object]:
    """The machine, without names of places or people."""
    return {
        "d9mlint": __version__, "system": platform.system(), "machine": platform.machine(),
        "cpu": _cpu(), "cores": os.cpu_count() or 0,
    }  # fmt: skip


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
