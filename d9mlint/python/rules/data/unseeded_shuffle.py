"""Shuffles of datasets and data loaders that no seed covers."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.rules.data import _data_draws


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each of the calls."""
    yield from _data_draws.check(
        program, rule, "tensorflow.data.Dataset.shuffle", "tensorflow.data.experimental.shuffle_and_repeat",
        "tensorflow.data.experimental.make_csv_dataset", "tensorflow.data.experimental.make_batched_features_dataset",
        "torch.utils.data.DataLoader.__iter__",
    )  # fmt: skip
