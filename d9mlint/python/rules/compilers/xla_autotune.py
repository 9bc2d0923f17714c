"""XLA's autotuning asked for by its flag, in a program that compiles with XLA."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import both, either, is_symbolic, negate
from d9mlint.python.frameworks.flagtexts import says
from d9mlint.python.frameworks.jax import mode as jaxmode
from d9mlint.python.frameworks.tensorflow.compilers import requests
from d9mlint.python.frameworks.tensorflow.determinism import switch
from d9mlint.python.frameworks.used import frameworks_of, uses_tensorflow
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_LEVEL = re.compile(r"--xla_gpu_autotune_level=[1-9]")
_PINNED = re.compile(
    r"--xla_gpu_deterministic_ops(?:=true|=1)?(?:\s|$)|--xla_gpu_load_autotune_results_from=|"
    r"--xla_gpu_require_complete_aot_autotune_results|--xla_gpu_per_fusion_autotune_cache_dir="
)
_OFF = re.compile(r"--xla_gpu_autotune_level=0")
_EXCLUDE = re.compile(r"--xla_gpu_exclude_nondeterministic_ops(?:=true|=1)?(?:\s|$)")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each write of XLA_FLAGS that asks for a level above 0 and pins nothing."""
    if "jax" in frameworks_of(program) and not uses_tensorflow(program):
        yield from _jax(program, rule)
        return
    if not any(not r.event.detached for r in requests(program)):
        return
    for event in program.env("XLA_FLAGS"):
        if not event.args:
            continue
        value = event.args[0]
        cond = both(says(value, _LEVEL), negate(says(value, _PINNED)), negate(switch(program).on))
        if cond is not False and is_symbolic(cond):
            yield draft(program, rule, event, cond=cond, extra="")


def _jax(program: Program, rule: Rule) -> Iterator[Draft]:
    """JAX compiles all with XLA; the finer determinism flag leaves the choice of kernels to timings."""
    if program.story.local:
        return
    for event in program.env("XLA_FLAGS"):
        value = event.args[0]
        asked = either(says(value, _LEVEL), both(says(value, _EXCLUDE), negate(says(value, _OFF))))
        cond = both(asked, negate(says(value, _PINNED)), jaxmode.on_gpu(program))
        if cond is not False and is_symbolic(cond) and not event.detached:
            extra = " (`--xla_gpu_exclude_nondeterministic_ops` does not stop that)"
            yield draft(program, rule, event, cond=cond, extra=extra if says(value, _EXCLUDE) is True else "")
