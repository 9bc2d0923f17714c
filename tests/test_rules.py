"""Every example in every rule file says the truth."""

from __future__ import annotations

import pytest

from d9mlint.app import run_example
from d9mlint.catalogue import load, read_examples

CATALOGUE = load(cache=False, full=True)
EXAMPLES = [(rule, example) for rule in CATALOGUE.rules.values() for example in read_examples(rule)]


def test_each_rule_has_bad_and_good_examples() -> None:
    for rule in CATALOGUE.rules.values():
        kinds = {example.kind for found, example in EXAMPLES if found.name == rule.name}
        assert {"bad", "good"} <= kinds, rule.name


@pytest.mark.parametrize(("rule", "example"), EXAMPLES, ids=[f"{r.name}:{e.line}:{e.kind}" for r, e in EXAMPLES])
def test_example(rule, example) -> None:  # type: ignore[no-untyped-def]
    result = run_example(rule, example, CATALOGUE)
    assert result.passed, f"expected {result.expected}, found {result.found}"
