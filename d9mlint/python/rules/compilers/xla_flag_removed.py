"""XLA flags that abort the program: removed, too new, or in the variable of TensorFlow's bridge."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.frameworks.flagtexts import says
from d9mlint.python.frameworks.used import frameworks_of, uses_tensorflow
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_REMOVED = re.compile(r"--xla_gpu_deterministic_reductions\b")
_MISPLACED = re.compile(r"(?:^|\s)--xla_gpu_\w+")
_EXCLUDE = re.compile(r"--xla_gpu_exclude_nondeterministic_ops\b")
_OF_JAX = (
    (_REMOVED, ">=0.4", "`--xla_gpu_deterministic_reductions` became `--xla_gpu_deterministic_ops`"),
    (_EXCLUDE, "<0.4.29", "`--xla_gpu_exclude_nondeterministic_ops` came with jax 0.4.29"),
)
"""Flags, the versions of JAX that end with an error at them, and why."""
_UNKNOWN = "no such flag since TF 2.8"
_BRIDGE = "it takes only `--tf_xla_*` flags, and those of XLA itself belong in `XLA_FLAGS`"


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each write of the two variables."""
    if "jax" in frameworks_of(program) and not program.imports("tensorflow"):
        yield from _jax(program, rule)
        return
    if not (uses_tensorflow(program) or program.story.local) or program.target.fits("tensorflow", "<2.8"):
        return
    for name, pattern, reason in (("XLA_FLAGS", _REMOVED, _UNKNOWN), ("TF_XLA_FLAGS", _MISPLACED, _BRIDGE)):
        for event in program.env(name):
            if event.args and (cond := says(event.args[0], pattern)) is not False:
                yield draft(program, rule, event, cond=cond, name=name, reason=reason, framework="TensorFlow")


def _jax(program: Program, rule: Rule) -> Iterator[Draft]:
    """Flags of XLA that the jaxlib of this version does not know."""
    for pattern, versions, reason in _OF_JAX:
        if not program.target.fits("jax", versions):
            continue
        for event in program.env("XLA_FLAGS"):
            if event.args and (cond := says(event.args[0], pattern)) is not False:
                remedy = rule.remedy(program.target, ("jax",))
                yield draft(
                    program, rule, event, cond=cond, name="XLA_FLAGS", reason=reason, framework="JAX", remedy=remedy
                )
