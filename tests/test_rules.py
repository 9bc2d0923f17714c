"""Every example in every rule file says the truth."""

from __future__ import annotations

from itertools import pairwise

import pytest

from d9mlint.app import run_example
from d9mlint.catalogue import load, read_examples
from d9mlint.model import Package, Target

CATALOGUE = load(cache=False, full=True)
EXAMPLES = [
    (rule, example, before)
    for rule in CATALOGUE.rules.values()
    for before, example in pairwise((None, *read_examples(rule)))
]


def test_each_rule_has_bad_and_good_examples() -> None:
    for rule in CATALOGUE.rules.values():
        kinds = {example.kind for found, example, _ in EXAMPLES if found.name == rule.name}
        assert {"bad", "good"} <= kinds, rule.name


@pytest.mark.parametrize(
    ("rule", "example", "before"), EXAMPLES, ids=[f"{r.name}:{e.line}:{e.kind}" for r, e, _ in EXAMPLES]
)
def test_example(rule, example, before) -> None:  # type: ignore[no-untyped-def]
    result = run_example(rule, example, CATALOGUE, before)
    assert result.passed, result.problem or f"expected {result.expected}, found {result.found}"


def test_a_fixed_text_is_what_the_fixes_make_of_the_bad_one() -> None:
    rule, fixed, bad = next(one for one in EXAMPLES if one[1].kind == "fixed" and one[2].kind == "bad")
    other = fixed._replace(files={name: text + "\n# another line\n" for name, text in fixed.files.items()})
    assert "do not give the fixed one" in run_example(rule, other, CATALOGUE, bad).problem


def test_a_gap_in_a_message_is_a_problem() -> None:
    rule, example = next((r, e) for r, e, _ in EXAMPLES if r.name == "leftover-checkpoint" and e.kind == "bad")
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
