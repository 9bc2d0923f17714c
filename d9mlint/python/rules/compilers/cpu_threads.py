"""Training on a CPU with several threads."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import is_symbolic, negate
from d9mlint.python.domain.values import Const
from d9mlint.python.frameworks.tensorflow.determinism import switch
from d9mlint.python.frameworks.tensorflow.threads import POOLS, pool_sizes
from d9mlint.python.frameworks.used import uses_tensorflow
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At pools that are given more than one thread; where none is set, at the first training step (as an info)."""
    training = next((e for e in program.trains if not e.detached), None)
    missing = negate(switch(program).on) if program.target.fits("tensorflow", ">=2.8") else True
    if training is None or not uses_tensorflow(program) or missing is False or not is_symbolic(missing):
        return
    sizes = [s for s in pool_sizes(program) if not s.event.detached]
    many: dict[int, list[str]] = {}
    for size in sizes:
        if isinstance(size.value, Const) and not _one(size.value):
            many.setdefault(size.event.index, []).append(f"{size.pool}-op pool: {_words(size.value)}")
    for index, words in many.items():
        yield draft(program, rule, program.events[index], cond=missing, what="; ".join(words))
    unset = [pool for pool in POOLS if pool not in {s.pool for s in sizes}]
    if unset and not many:
        told = "; ".join(f"{pool}-op pool: one thread per core, as nothing sets it" for pool in unset)
        yield draft(program, rule, training, cond=missing, what=told, severity="info")


def _one(value: Const) -> bool:
    return str(value.value) == "1"


def _words(value: Const) -> str:
    return "one thread per core" if str(value.value) == "0" else f"{value.value} threads"
