"""Nothing is lost where findings of one cause are told as one: over all small programs and all that were reported (slow)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import projects_score
import pytest
import yaml

from d9mlint.app import Options, check, results
from d9mlint.app.causes import by_cause
from d9mlint.model import CONFIDENCES, SEVERITIES, Finding

PROGRAMS = [*projects_score.folders(), *projects_score.report_folders()]


@pytest.mark.slow
def test_each_finding_is_a_place_of_one_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Sequence[Finding], Sequence[Finding]]] = []

    def watched(findings: Sequence[Finding], sources: Mapping[str, str]) -> list[Finding]:
        told = by_cause(findings, sources)
        seen.append((findings, told))
        return told

    monkeypatch.setattr(results, "by_cause", watched)
    for folder in PROGRAMS:
        expect = yaml.safe_load((folder / "expect.yaml").read_text(encoding="utf-8"))
        monkeypatch.chdir(folder)
        check(Options(
            paths=(Path(expect["entry"]),), target=tuple(expect.get("target", ())), device=expect.get("device"),
            argv=tuple(expect["args"]) if "args" in expect else None, jobs=1, min_confidence="low",
        ))  # fmt: skip
    assert len(seen) >= len(PROGRAMS) > 300
    assert sum(len(findings) > len(told) for findings, told in seen) > 10  # causes with several places
    for findings, told in seen:
        places = {place for one in told for place in (one.location, *(related.location for related in one.related))}
        lost = [one for one in findings if one.location not in places]
        assert not lost, lost[0]
        for name in {entry for one in findings for entry in one.entries}:
            ranks = [[_rank(one) for one in group if name in one.entries] for group in (findings, told)]
            assert max(ranks[0]) <= max(ranks[1]), f"the gravest finding of {name} is told with less weight"


def _rank(found: Finding) -> tuple[int, int]:
    return SEVERITIES.index(found.severity), CONFIDENCES.index(found.confidence)
