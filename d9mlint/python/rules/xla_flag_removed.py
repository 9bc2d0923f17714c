"""XLA flags that abort the program: removed ones, and those of XLA in the variable of TensorFlow's bridge."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.compilers import says
from d9mlint.python.program import Draft, Program

_REMOVED = re.compile(r"--xla_gpu_deterministic_reductions\b")
_MISPLACED = re.compile(r"(?:^|\s)--xla_gpu_\w+")
_UNKNOWN = "no such flag since TF 2.8"
_BRIDGE = "it takes only --tf_xla_* flags, those of XLA itself belong into XLA_FLAGS"


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each write of the two variables."""
    if not (program.uses_tensorflow or program.story.local):
        return
    for name, pattern, reason in (("XLA_FLAGS", _REMOVED, _UNKNOWN), ("TF_XLA_FLAGS", _MISPLACED, _BRIDGE)):
        for event in program.env(name):
            if event.args and (cond := says(event.args[0], pattern)) is not False:
                yield program.draft(rule, event, cond=cond, name=name, reason=reason)
