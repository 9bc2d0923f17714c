"""XLA's autotuning asked for by its flag, in a program that compiles with XLA."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.compilers import requests, says
from d9mlint.python.determinism import switch
from d9mlint.python.guards import both, negate
from d9mlint.python.program import Draft, Program
from d9mlint.python.wording import is_symbolic

_LEVEL = re.compile(r"--xla_gpu_autotune_level=[1-9]")
_PINNED = re.compile(r"--xla_gpu_deterministic_ops(?:=true|=1)?(?:\s|$)|--xla_gpu_load_autotune_results_from=")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each write of XLA_FLAGS that asks for a level above 0 and pins nothing."""
    if not any(not r.event.detached for r in requests(program)):
        return
    for event in program.env("XLA_FLAGS"):
        if not event.args:
            continue
        value = event.args[0]
        cond = both(says(value, _LEVEL), negate(says(value, _PINNED)), negate(switch(program).on))
        if cond is not False and is_symbolic(cond):
            yield program.draft(rule, event, cond=cond)
