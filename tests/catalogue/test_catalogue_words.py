"""What users read of the catalogue: each text is of use to someone who never saw the tool."""

from __future__ import annotations

import re

import pytest

from d9mlint.catalogue import load
from d9mlint.catalogue.cases import read_cases
from d9mlint.catalogue.render import of_op, of_rule

CATALOGUE = load(cache=False, full=True)
OPS = (*CATALOGUE.ops, *(case.op for case in read_cases()))
PAGES = {rule.name: of_rule(rule, CATALOGUE, None, ()) for rule in CATALOGUE.rules.values()}
PAGES |= {op.name: of_op(op, None, ()) for op in OPS}

# A number in a list that the reader does not have ("B-016", "A-023 to A-043"), not the address of a source.
OPAQUE = re.compile(r"(?<![\w/-])[A-Z]{1,2}-\d{2,4}(?![\w-])")


@pytest.mark.parametrize(("source", "opaque"), [("- B-016", True), ("A-1 to A-043", True), ("issue:a/b#16", False)])
def test_opaque(source: str, opaque: bool) -> None:
    assert bool(OPAQUE.search(source)) is opaque


def test_pages_name_sources_that_a_reader_can_look_up() -> None:
    assert {name: OPAQUE.findall(page) for name, page in PAGES.items() if OPAQUE.search(page)} == {}
    named = {*(source for rule in CATALOGUE.rules.values() for source in rule.sources)}
    named |= {source for op in OPS for source in op.sources}
    places = re.compile(r"[/#]|\d\.\d")  # an address, a path, an issue, or a release
    assert sorted(source for source in named if not places.search(source)) == []
