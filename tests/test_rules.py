"""Every example in every rule file says the truth."""

from __future__ import annotations

import pytest

from d9mlint.app import run_example
from d9mlint.catalogue import load, read_examples
from d9mlint.model import Package, Target

CATALOGUE = load(cache=False, full=True)
EXAMPLES = [(rule, example) for rule in CATALOGUE.rules.values() for example in read_examples(rule)]


def test_each_rule_has_bad_and_good_examples() -> None:
    for rule in CATALOGUE.rules.values():
        kinds = {example.kind for found, example in EXAMPLES if found.name == rule.name}
        assert {"bad", "good"} <= kinds, rule.name


@pytest.mark.parametrize(("rule", "example"), EXAMPLES, ids=[f"{r.name}:{e.line}:{e.kind}" for r, e in EXAMPLES])
def test_example(rule, example) -> None:  # type: ignore[no-untyped-def]
    result = run_example(rule, example, CATALOGUE)
    assert result.passed, result.problem or f"expected {result.expected}, found {result.found}"


def test_a_gap_in_a_message_is_a_problem() -> None:
    rule, example = next(pair for pair in EXAMPLES if pair[0].name == "leftover-checkpoint" and pair[1].kind == "bad")
    torn = rule._replace(message=rule.message + " {nobody_fills_this}")
    catalogue = CATALOGUE._replace(rules={**CATALOGUE.rules, rule.name: torn})
    result = run_example(torn, example, catalogue)
    assert "{nobody_fills_this}" in result.problem and not result.passed


def test_each_remedy_is_given_to_somebody() -> None:
    """A remedy for a framework is the answer to a program that uses it, whichever framework the rule is about."""
    for rule in CATALOGUE.rules.values():
        for remedy in (one for one in rule.remedies if not one.versions):
            frameworks = (remedy.framework,) if remedy.framework else ()
            lacking = {one.needs.partition(">=")[0] for one in rule.remedies if one.needs and not remedy.needs}
            target = Target({name: Package("0", "too old for the others") for name in lacking}, "gpu")
            assert rule.remedy(target, frameworks) == remedy.text, rule.name
