"""What rules say of their cures, tried on their own examples as for a user (slow)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from d9mlint.app import Options
from d9mlint.app.examples import unmarked
from d9mlint.app.fixing import cured
from d9mlint.catalogue import load, read_examples
from d9mlint.model import KERNELS, Example, Report, Rule

CURED = [rule for rule in load().rules.values() if rule.family != KERNELS and set(rule.cure) - {"reason", "safe"}]


def told(report: Report) -> Counter[tuple[str, str]]:
    return Counter((one.rule, one.location.path) for one in report.findings if one.severity != "info")


def options(example: Example) -> Options:
    names = [name for name in example.files if name.endswith((".py", ".ipynb"))]
    entry = "train.py" if "train.py" in names else names[0] if names else "."
    return Options(
        paths=(Path(entry),), target=example.target, device=example.device or None,
        argv=None if example.args is None else tuple(example.args), jobs=1, unsafe_fixes=True,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("rule", CURED, ids=[rule.name for rule in CURED])
def test_a_cure_cures_an_example_and_brings_nothing_new(
    rule: Rule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = 0
    bad = [example for example in read_examples(rule) if example.kind == "bad"]
    for number, example in enumerate(bad):
        folder = tmp_path / str(number)
        for name, text in unmarked(example).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        monkeypatch.chdir(folder)
        before, after = cured(options(example))
        fresh = told(after).keys() - told(before).keys()
        assert not fresh, f"example {number + 1} of {rule.name}"
        done += sum(one.rule == rule.name for one in before.findings) > sum(
            one.rule == rule.name for one in after.findings
        )
    assert done, f"none of the {len(bad)} examples is cured"
