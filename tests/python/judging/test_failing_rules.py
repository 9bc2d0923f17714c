"""A rule that fails takes nothing else down: each that does is told, and the others report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

from d9mlint.model import Rule
from d9mlint.python.judging import judge
from d9mlint.python.judging.judge import Check

FAILING = ("unseeded-python", "unseeded-torch")


def test_each_rule_that_fails_is_told(
    d9mlint: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checker = judge.checker

    def failing(rule: Rule) -> Check:
        if rule.name not in FAILING:
            return checker(rule)
        raise ZeroDivisionError(rule.name)

    monkeypatch.setattr(judge, "checker", failing)
    (tmp_path / "train.py").write_text("import random\nimport numpy as np\nprint(random.random(), np.random.rand())\n")
    ran = d9mlint("check", "train.py", "--no-cache", "--format", "json")
    assert ran.code == 3
    assert [finding["rule"] for finding in ran.json["findings"]] == ["unseeded-numpy"]
    assert [one["reason"] for one in ran.json["unchecked"]] == [
        f"internal-error: rule {name} failed: ZeroDivisionError: {name}" for name in FAILING
    ]
