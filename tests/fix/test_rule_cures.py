"""What rules say of their cures and remedies, tried on their own examples as for a user (slow)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from d9mlint.app import Options
from d9mlint.app.examples import unmarked
from d9mlint.app.fixing import cured
from d9mlint.catalogue import load, read_examples
from d9mlint.model import KERNELS, Example, Report, Rule

RULES = [rule for rule in load().rules.values() if rule.family != KERNELS]
CURED = [rule for rule in RULES if set(rule.cure) - {"reason", "safe"}]
OTHERS = [rule for rule in RULES if rule not in CURED]
"""Those that are cured by the statements of their remedies, or not at all."""


def told(report: Report) -> Counter[tuple[str, str]]:
    return Counter((one.rule, one.location.path) for one in report.findings if one.severity != "info")


def options(example: Example) -> Options:
    names = [name for name in example.files if name.endswith((".py", ".ipynb"))]
    entry = "train.py" if "train.py" in names else names[0] if names else "."
    return Options(
        paths=(Path(entry),), target=example.target, device=example.device or None,
        argv=None if example.args is None else tuple(example.args), jobs=1, unsafe_fixes=True,
    )  # fmt: skip


def cures(rule: Rule, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many of the bad examples of a rule are cured; none of the patches brings a new finding."""
    done = 0
    for number, example in enumerate(example for example in read_examples(rule) if example.kind == "bad"):
        for name, text in unmarked(example).items():
            (folder / str(number) / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / str(number) / name).write_text(text)
        monkeypatch.chdir(folder / str(number))
        before, after = cured(options(example))
        fresh = told(after).keys() - told(before).keys()
        assert not fresh, f"example {number + 1} of {rule.name}"
        done += sum(one.rule == rule.name for one in before.findings) > sum(
            one.rule == rule.name for one in after.findings
        )
    return done


@pytest.mark.slow
@pytest.mark.parametrize("rule", CURED, ids=[rule.name for rule in CURED])
def test_a_cure_cures_an_example_and_brings_nothing_new(
    rule: Rule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cures(rule, tmp_path, monkeypatch), f"no example of {rule.name} is cured"


@pytest.mark.slow
def test_no_patch_of_the_others_brings_anything_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(cures(rule, tmp_path / rule.name, monkeypatch) > 0 for rule in OTHERS) > 10
