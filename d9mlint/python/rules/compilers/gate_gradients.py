"""Gradients computed and applied without any gating."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.conditions import Cond, both, either, is_symbolic
from d9mlint.python.domain.values import Const, Ref, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_POSITIONS = {"tensorflow.train.Optimizer.minimize": 3, "tensorflow.train.Optimizer.compute_gradients": 2}


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each ``minimize`` or ``compute_gradients`` of a TF1 optimizer that is given GATE_NONE."""
    for event in program.events:
        last = event.name.rpartition(".")[2]
        if event.kind != "call" or last not in ("minimize", "compute_gradients"):
            continue
        value = event.argument(Argument(_POSITIONS.get(event.name), "gate_gradients"))
        if value is None:
            continue
        cond = either(*(both(c, _none(leaf)) for c, leaf in alternatives(value)))
        if cond is not False:
            confidence = rule.confidence if is_symbolic(cond) else "medium"
            yield draft(program, rule, event, cond=cond, confidence=confidence, last=last)


def _none(leaf: Value) -> Cond:
    if isinstance(leaf, Const):
        return leaf.value == 0 and leaf.value is not False
    return isinstance(leaf, Ref) and leaf.name.endswith(".GATE_NONE")
