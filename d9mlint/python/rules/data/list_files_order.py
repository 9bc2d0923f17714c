"""``list_files`` that shuffles and that no seed covers."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.rules.data import _data_draws


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each of the calls."""
    yield from _data_draws.check(
        program, rule, "tensorflow.data.Dataset.list_files",
    )  # fmt: skip
