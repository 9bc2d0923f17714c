"""ignored-determinism-variable: a variable is set that this version never reads."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import both, is_symbolic, negate, truth
from d9mlint.python.frameworks.jax import mode as jaxmode
from d9mlint.python.frameworks.tensorflow.determinism import (
    CUDNN_VARIABLE,
    OPS_VARIABLE,
    partly_on,
    reads_cudnn,
    reads_deterministic_ops,
    setting,
    switch,
)
from d9mlint.python.frameworks.used import frameworks_of, uses_tensorflow
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_MISSPELT = "TF_CUDNN DETERMINISTIC"
"""With a space, as it is handed on from script to script."""
_BRIDGE = "TF_XLA_FLAGS"
"""Flags of the bridge between TensorFlow and XLA; JAX has no such bridge."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Every write that turns on nothing, unless the right switch is on as well."""
    if "jax" in frameworks_of(program) and not uses_tensorflow(program):
        yield from _jax(program, rule)
    if not uses_tensorflow(program) or program.target.fits("tensorflow", ">=2.1"):
        return
    # TF_DETERMINISTIC_OPS beside TF_CUDNN_DETERMINISTIC is a helper written for all versions, not a mistake.
    otherwise = (switch(program).on, partly_on(program))
    ignored = []
    if not reads_deterministic_ops(program):
        ignored.append(OPS_VARIABLE)
    if not reads_cudnn(program) and program.target.version("ngc") is None:
        ignored.append(CUDNN_VARIABLE)
    for event in program.env(*ignored):
        cond = both(setting(event).on, *(negate(c) for c in otherwise))
        if truth(cond, event.guards) is not False and is_symbolic(cond):
            since = "2.1" if event.name == OPS_VARIABLE else "1.14"
            version = program.target.version("tensorflow") or ""
            reader = f"TensorFlow {version} never reads `{event.name}` (stock versions do from {since})"
            yield draft(program, rule, event, cond=cond, reader=reader)


def _jax(program: Program, rule: Rule) -> Iterator[Draft]:
    """TensorFlow's variables in a program of JAX alone: old advice, from the time when XLA asked cuDNN's variable."""
    names = [OPS_VARIABLE, *([] if jaxmode.reads_cudnn(program) else [CUDNN_VARIABLE]), _MISSPELT, _BRIDGE]
    for event in program.env(*names):
        wanted = jaxmode.wanted(event) if event.name == _BRIDGE else setting(event).on
        cond = both(wanted, negate(jaxmode.jax_mode(program).on))
        if truth(cond, event.guards) is not False and is_symbolic(cond):
            known = event.name != _MISSPELT
            what = "a variable of TensorFlow" if known else f"a misspelling of TensorFlow's `{CUDNN_VARIABLE}`"
            reader = f"JAX never reads `{event.name}`, {what}"
            yield draft(program, rule, event, cond=cond, reader=reader, remedy=rule.remedy(program.target, ("jax",)))
