"""What is told about the word under the cursor: the page of a rule that found something there, or of an op."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from d9mlint.catalogue import load
from d9mlint.catalogue.lookup import ops_called
from d9mlint.catalogue.observed import own_records
from d9mlint.catalogue.render.explain import explain
from d9mlint.model import Finding

_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n#]+)", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]*(?:\(([^)]*)\)|([^\n#]+))", re.MULTILINE)
_RENAMED = re.compile(r"([\w.]+)(?:[ \t\n]+as[ \t\n]+(\w+))?")


def page(findings: Iterable[Finding], text: str, line: int, column: int) -> str:
    """Markdown about a place (line and column from 0, in characters); empty where there is nothing to say."""
    rules = tuple(dict.fromkeys(found.rule for found in findings))
    if rules:
        return "\n\n---\n\n".join(map(_page, rules))
    return _page_of_op(dotted_name(text, line, column))


def dotted_name(text: str, line: int, column: int) -> str:
    """The name at a place as far as the cursor, with what import lines make of its first word; empty where none is."""
    lines = text.split("\n")
    if line >= len(lines):
        return ""
    for match in _NAME.finditer(lines[line]):
        if match.start() <= column < match.end():
            rest = match[0][column - match.start() :].partition(".")[0]
            name = match[0][: column - match.start()] + rest
            first, dot, others = name.partition(".")
            return imported(text).get(first, first) + dot + others
    return ""


def imported(text: str) -> dict[str, str]:
    """By name, what import lines bind it to: a look at words, as a text that somebody types seldom parses."""
    found: dict[str, str] = {}
    for line in _IMPORT.findall(text):
        for dotted, name in _RENAMED.findall(line):
            found[name or dotted.partition(".")[0]] = dotted if name else dotted.partition(".")[0]
    for module, inside, rest in _FROM.findall(text):
        for part in (inside or rest).split(","):
            if words := _RENAMED.match(part.strip()):
                found[words[2] or words[1]] = f"{module}.{words[1]}"
    return found


@lru_cache(maxsize=64)
def _page(name: str) -> str:
    return explain(name, load(), None, own_records())


@lru_cache(maxsize=512)
def _page_of_op(name: str) -> str:
    """The page of an op; empty where none is called so."""
    if "." not in name:
        return ""
    catalogue = load()
    return _page(name) if ops_called(name, catalogue.ops, catalogue.aliases) else ""
