"""determinism-value: a determinism variable holds something that TensorFlow does not take for true."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import is_symbolic
from d9mlint.python.domain.values import Const, alternatives
from d9mlint.python.frameworks.tensorflow.determinism import (
    CUDNN_VARIABLE,
    FRONTEND_VARIABLE,
    OPS_VARIABLE,
    plainly_off,
    reads_cudnn,
    reads_deterministic_ops,
    setting,
)
from d9mlint.python.frameworks.used import uses_tensorflow
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Every write of a variable that this version reads."""
    if not uses_tensorflow(program):
        return
    read = {
        OPS_VARIABLE: reads_deterministic_ops(program),
        CUDNN_VARIABLE: reads_cudnn(program),
        FRONTEND_VARIABLE: program.target.fits("tensorflow", ">=2.5,<2.8"),
    }
    for event in program.env(*(name for name, does in read.items() if does)):
        state = setting(event)
        if state.junk is not False and is_symbolic(state.junk):
            wrong = next(v.value for _, v in alternatives(event.args[0]) if isinstance(v, Const) and _junk(v.value))
            what = "is neither true nor false to TensorFlow: the variable stays off"
            if not isinstance(wrong, str):
                what = "is not a string: `os.environ` raises TypeError"
            yield draft(program, rule, event, cond=state.junk, name=event.name, given=repr(wrong), what=what)
        elif event.name != FRONTEND_VARIABLE and plainly_off(program, event):
            yield draft(
            program,
                rule, event, severity="warning", name=event.name, given=repr(event.args[0].value),  # type: ignore[union-attr]
                what="leaves deterministic ops off",
            )  # fmt: skip


def _junk(value: object) -> bool:
    return not isinstance(value, str) or value.lower() not in ("", "0", "1", "true", "false")
