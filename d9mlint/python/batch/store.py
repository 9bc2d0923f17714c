"""What earlier runs found out about Python programs: units and facts."""

from __future__ import annotations

from dataclasses import dataclass

from d9mlint.cache import Store, code_hash, content_hash, is_private
from d9mlint.model import Coverage, Finding, PlanRow

__all__ = ["Store", "Unit", "content_hash", "is_private", "own_code"]


@dataclass(frozen=True, slots=True)
class Unit:
    """What one entry yields, and what that rests on: content hashes by path, None for a file that was not there."""

    findings: tuple[Finding, ...]
    unchecked: tuple[tuple[str, str], ...]
    files: tuple[str, ...]
    asked: tuple[tuple[str, str | None], ...]
    coverage: Coverage | None = None
    runs: bool = False
    """Whether it is a program: also a file that no entry reaches may be seen to train by itself."""
    plan: tuple[PlanRow, ...] = ()


def own_code(*names: str) -> str:
    """Changes with these modules (else with all), so that who works on a rule never sees what the old one found."""
    return code_hash(("model", "python"), names)
