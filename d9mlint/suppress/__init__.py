"""What the user has already judged: ``d9m: ignore[name] reason`` comments, and the baseline file."""

from __future__ import annotations

import re

from d9mlint.suppress import cpp, python
from d9mlint.suppress.baseline import Baseline, load_baseline, split, write_baseline
from d9mlint.suppress.comments import CPP_FORM, FORM, MARK, Suppression
from d9mlint.suppress.judging import RULES, UNKNOWN, UNUSED, WITHOUT_REASON, apply

__all__ = [
    "CPP_FORM",
    "FORM",
    "MARK",
    "RULES",
    "UNKNOWN",
    "UNUSED",
    "WITHOUT_REASON",
    "Baseline",
    "Suppression",
    "apply",
    "form",
    "load_baseline",
    "scan",
    "split",
    "write_baseline",
]


_PYTHON = (".py", ".ipynb")
_WITHOUT = (".json",)
_HASHES = re.compile(
    r"\.(?:sh|bash|zsh|ksh|csh|slurm|sbatch|job|pbs|qsub|sub|mk|ya?ml|env)$|(?:^|/)[^/]*(?:ocker|ake)file[^/]*$"
)
"""Files whose comments begin with ``#``, but that are no Python."""


def form(path: str) -> str:
    """How a finding there is suppressed; empty in files without comments."""
    if path.endswith(_WITHOUT):
        return ""
    return FORM if path.endswith(_PYTHON) or _HASHES.search(path) else CPP_FORM


def scan(text: str, path: str = "") -> tuple[Suppression, ...]:
    """The suppression comments of a source: Python (``.py``, or no name at all), shell and the like, else C++."""
    if not path or path.endswith(_PYTHON):
        return python.scan(text)
    return python.scan_hashes(text) if _HASHES.search(path) else cpp.scan(text)
