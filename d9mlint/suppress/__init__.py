"""What the user has already judged: ``d9m: ignore[name] reason`` comments, and the baseline file."""

from __future__ import annotations

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
    "load_baseline",
    "scan",
    "split",
    "write_baseline",
]


def scan(text: str, path: str = "") -> tuple[Suppression, ...]:
    """The suppression comments of a source; what is no Python file (``.py``, or no name at all) is read as C++."""
    return python.scan(text) if not path or path.endswith(".py") else cpp.scan(text)
