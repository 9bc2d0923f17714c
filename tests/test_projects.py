"""The programs of ``tests/projects``: every expected finding is found, no clean program is warned about."""

from __future__ import annotations

import pytest
from projects_score import HERE, score

FOLDERS = sorted(p.parent.name for p in HERE.glob("*/expect.yaml"))


def test_there_are_programs() -> None:
    assert len(FOLDERS) >= 120


@pytest.mark.parametrize("name", FOLDERS)
def test_program(name: str) -> None:
    result = score(HERE / name)
    assert result.missed == ()
    assert result.alarms == ()
