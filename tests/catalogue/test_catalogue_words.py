"""What users read of the catalogue: each text is of use to someone who never saw the tool."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import d9mlint
from d9mlint.catalogue import load
from d9mlint.catalogue.render.explain import of_op, of_rule
from d9mlint.catalogue.schema.cases import read_cases

PACKAGE = Path(d9mlint.__file__).parent
RULES = ("python/rules", "configs/rules", "kernels/rules")
CATALOGUE = load(cache=False, full=True)
OPS = (*CATALOGUE.ops, *(case.op for case in read_cases()))

# A number in a list that the reader does not have ("B-016", "A-023 to A-043"), not the address of a source.
OPAQUE = re.compile(r"(?<![\w/-])[A-Z]{1,2}-\d{2,4}(?![\w-])")

CODE = re.compile(r"`[^`]*`|\{\w*\}")
ENGINE = re.compile(
    r"\b(reach(es)? an? (index|numbering|slice)|(?<!system )from entropy|goes into|(is|are|was|were) (not )?(seen|told)|told otherwise|cannot see|"
    r"the finding is of|sinks?|taint(ed)?|an? (fact|guard|event|provenance)|abstract value|path condition|in force)\b"
)
"""What only d9mlint itself calls so: a reader asks "seen by whom?"."""


@pytest.mark.parametrize(("source", "opaque"), [("- B-016", True), ("A-1 to A-043", True), ("issue:a/b#16", False)])
def test_opaque(source: str, opaque: bool) -> None:
    assert bool(OPAQUE.search(source)) is opaque


def test_pages_name_sources_that_a_reader_can_look_up() -> None:
    pages = {rule.name: of_rule(rule, CATALOGUE, None, ()) for rule in CATALOGUE.rules.values()}
    pages |= {op.name: of_op(op, None, ()) for op in OPS}
    assert {name: OPAQUE.findall(page) for name, page in pages.items() if OPAQUE.search(page)} == {}
    named = {*(source for rule in CATALOGUE.rules.values() for source in rule.sources)}
    named |= {source for op in OPS for source in op.sources}
    places = re.compile(r"[/#]|\d\.\d")  # an address, a path, an issue, or a release
    assert sorted(source for source in named if not places.search(source)) == []


def _texts() -> Iterator[tuple[str, str, str]]:
    """Where, which and what: each text of a rule that stands in a report or on its page."""
    for rule in CATALOGUE.rules.values():
        yield rule.name, "summary", rule.summary
        yield rule.name, "message", rule.message
        yield rule.name, "why", rule.why
        for remedy in rule.remedies:
            yield rule.name, "remedy", remedy.text
    for effect in CATALOGUE.effects:
        if effect.remedy:
            yield effect.calls[0], "remedy", effect.remedy
    for path in sorted(path for folder in RULES for path in (PACKAGE / folder).rglob("*.py")):
        yield from ((path.name, "note", text) for text in _written(ast.parse(path.read_text(encoding="utf-8"))))


def _written(module: ast.Module) -> Iterator[str]:
    """The strings of a module that are words for a reader; what stands in for a value is ``{}``."""
    unread = {id(part) for node in ast.walk(module) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    unread |= {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(module):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            text = "".join(str(part) for part in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in unread:
            text = node.value
        else:
            continue
        if len(re.findall(r"[a-z]{2,}", text)) > 2:
            yield text


def _complaints(kind: str, text: str) -> list[str]:
    words = CODE.sub("`x`", text)
    found = [f"a word of the engine: {match[0]}" for match in ENGINE.finditer(words)]
    if text.count("`") % 2:
        found.append("backticks that do not go in pairs")
    if "  " in (text if kind == "summary" else words):
        found.append("two spaces")
    if kind in ("summary", "message", "remedy") and words.rstrip().endswith("."):
        found.append("a stop at its end")
    if kind in ("summary", "message") and re.search(r"[.!?] [A-Z]", words):
        found.append("more than one sentence")
    if kind == "summary" and words[:1].islower() and not re.match(r"\S*[a-z][._A-Z]", words):
        found.append("a small letter at its start, and no name")
    if kind == "remedy" and words.startswith("`"):
        found.append("code without a verb that says what to do with it")
    if kind == "why" and not words.rstrip().endswith((".", ".)")):
        found.append("no stop at its end")
    return found


@pytest.mark.parametrize(
    ("kind", "text", "complaint"),
    [
        ("message", "the order reaches an index", "a word of the engine: reaches an index"),
        ("message", "`a` is drawn from entropy", "a word of the engine: from entropy"),
        ("message", "`a differs", "backticks that do not go in pairs"),
        ("summary", "Two  spaces", "two spaces"),
        ("remedy", "call `f(1)`.", "a stop at its end"),
        ("message", "`a` varies. Seed it", "more than one sentence"),
        ("summary", "the seed is lost", "a small letter at its start, and no name"),
        ("remedy", "`random.seed(1)` before", "code without a verb that says what to do with it"),
        ("why", "It varies", "no stop at its end"),
    ],
)
def test_what_is_complained_about(kind: str, text: str, complaint: str) -> None:
    assert complaint in _complaints(kind, text)


def test_texts_are_plain_sentences() -> None:
    found = [(where, kind, text, said) for where, kind, text in _texts() if (said := _complaints(kind, text))]
    assert found == []
