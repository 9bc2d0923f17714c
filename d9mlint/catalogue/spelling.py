"""Names of rules and ops in running text: are they spelled as the catalogue has them?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import NamedTuple

from d9mlint.catalogue.content import Catalogue
from d9mlint.catalogue.lookup import ops_called
from d9mlint.model import OUTCOMES, Op

_NAME = r"[\w.*-]+"
_IDS = re.compile(r"\bD9M\d{3}\b")
_RULES = re.compile(rf"(?:d9m: ignore(?:-file)?\[|d9mlint [^`]*?--(?:select|ignore)[ =])({_NAME}(?:, ?{_NAME})*)")
_OPS = re.compile(rf"(?:d9mlint explain|--op) ({_NAME})")
_CODE = re.compile(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`")
_ALIKE = 0.85
"""How alike a word in code must be to the name of a rule to be taken for a misspelt one."""
_PLACEHOLDERS = {"NAME", "NAMES", "OP", "name", "...", "all"}


class Misspelt(NamedTuple):
    """A name that nothing has, the line it stands on, and the name that was meant, if one is like it."""

    line: int
    name: str
    meant: str


def misspelt(text: str, catalogue: Catalogue, ops: tuple[Op, ...]) -> Iterator[Misspelt]:
    """Names in commands, comments and numbers that are none, and words in code that are nearly a rule's name."""
    rules = {name for rule in catalogue.rules.values() for name in (rule.name, rule.id, rule.family)}
    named = {rule.name for rule in catalogue.rules.values()}
    others = {*rules, *catalogue.hazards, *OUTCOMES}  # words that look alike and are none of a rule
    for number, line in enumerate(text.splitlines(), 1):
        words = [*_IDS.findall(line), *(word for found in _RULES.findall(line) for word in re.split(r", ?", found))]
        wrong = {word for word in words if word not in rules | _PLACEHOLDERS}
        asked = {word for word in _OPS.findall(line) if word not in rules | _PLACEHOLDERS}
        wrong |= {word for word in asked if not ops_called(word, ops, catalogue.aliases)}
        wrong |= {
            word for word in _CODE.findall(line) if word not in others and get_close_matches(word, named, 1, _ALIKE)
        }
        for word in sorted(wrong):
            yield Misspelt(number, word, next(iter(get_close_matches(word, sorted(rules), 1)), ""))
