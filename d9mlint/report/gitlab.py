"""GitLab's code quality report: a list of issues.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import hashlib
import json

from d9mlint.model import Finding, Report, Unchecked
from d9mlint.report.words import conditions, encodable, one_line

_SEVERITIES = {"error": "critical", "warning": "major", "info": "info"}
_NOT_CHECKED = "not-checked"


def render(report: Report) -> str:
    """An issue for each finding, and for each file that could not be checked."""
    issues = [*map(_finding, report.findings), *map(_unchecked, report.unchecked)]
    return encodable(json.dumps(issues, indent=2, ensure_ascii=False)) + "\n"


def _finding(finding: Finding) -> dict[str, object]:
    place, when = finding.location, conditions(finding)
    cell = f"cell {place.cell}, line {place.line}: " if place.in_cell else ""
    fix = f". Fix: {one_line(finding.remedy)}" if finding.remedy else ""
    return {
        "description": f"{cell}{one_line(finding.message)}{f' (when {when})' if when else ''}{fix}",
        "check_name": finding.rule,
        "fingerprint": finding.fingerprint,
        "severity": _SEVERITIES.get(finding.severity, "info"),
        # (GitLab knows no cells: it shows a notebook's finding at its first line.)
        "location": {"path": place.path, "lines": {"begin": 1 if place.in_cell else place.line}},
    }


def _unchecked(unchecked: Unchecked) -> dict[str, object]:
    known = "\0".join((_NOT_CHECKED, *unchecked)).encode("utf-8", "surrogatepass")
    return {
        "description": f"not checked: {one_line(unchecked.reason)}",
        "check_name": _NOT_CHECKED,
        "fingerprint": hashlib.sha256(known).hexdigest()[:16],
        "severity": "blocker",
        "location": {"path": unchecked.path, "lines": {"begin": 1}},
    }
