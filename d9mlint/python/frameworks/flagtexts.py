"""Flags in the text of a variable of the environment, which programs append to what whoever starts them has set there.

``os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_dump_to=..."`` asks for what it appends; what was
set before is nothing by default.
"""

from __future__ import annotations

import re

from d9mlint.python.domain.conditions import Cond, both, either
from d9mlint.python.domain.taint import is_variable
from d9mlint.python.domain.values import Const, Text, Value, alternatives


def says(value: Value, pattern: re.Pattern[str]) -> Cond:
    """The condition under which a text surely has a match for ``pattern``."""
    return either(*(both(cond, contains(leaf, pattern) is True) for cond, leaf in alternatives(value)))


def contains(leaf: Value, pattern: re.Pattern[str]) -> bool | None:
    """Whether a text has a match for ``pattern``; None where it has parts that are not known."""
    parts = leaf.parts if isinstance(leaf, Text) else (leaf,)
    if any(isinstance(part, Const) and isinstance(part.value, str) and pattern.search(part.value) for part in parts):
        return True
    return False if all(isinstance(part, Const) or is_variable(part) for part in parts) else None
