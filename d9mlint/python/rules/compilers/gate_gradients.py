"""Gradients computed and applied without any gating."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.conditions import Cond, both, either, is_symbolic
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Ref, Seq, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_POSITIONS = {"tensorflow.train.Optimizer.minimize": 3, "tensorflow.train.Optimizer.compute_gradients": 2}
_CLIPS = "tensorflow.clip_by_global_norm"
"""Takes all gradients before it gives any."""
_FINITE = ("is_finite", "is_nan", "is_inf", "check_numerics")
_DEPTH = 6
"""Calls through which a value is followed back."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each ``minimize`` or ``compute_gradients`` of a TF1 optimizer that is given GATE_NONE."""
    for event in program.named(lambda name: name.rpartition(".")[2] in ("minimize", "compute_gradients"), "call"):
        last = event.name.rpartition(".")[2]
        value = event.argument(Argument(_POSITIONS.get(event.name), "gate_gradients"))
        if value is None or (last == "compute_gradients" and _waits_for_all(program)):
            continue
        cond = either(*(both(c, _none(leaf)) for c, leaf in alternatives(value)))
        if cond is not False:
            confidence = rule.confidence if is_symbolic(cond) else "medium"
            yield draft(program, rule, event, cond=cond, confidence=confidence, last=last)


def _none(leaf: Value) -> Cond:
    if isinstance(leaf, Const):
        return leaf.value == 0 and leaf.value is not False
    return isinstance(leaf, Ref) and leaf.name.endswith(".GATE_NONE")


def _waits_for_all(program: Program) -> bool:
    """Whether all gradients are there before any is applied.

    They are clipped by their common norm, or applied in a branch that is taken where each of them is finite.
    """
    applied = [e for e in program.ending(".apply_gradients") if not e.detached]
    choices = [e for e in program.calls("tensorflow.cond") if _made_of(e.args[:1], _FINITE)]
    places = {event.location for event in choices}
    clips = program.calls(_CLIPS)
    return bool(applied) and all(
        not places.isdisjoint(e.stack) or any((one.func, one.stack) == (e.func, e.stack) for one in clips)
        for e in applied
    )


def _made_of(values: object, words: tuple[str, ...], depth: int = _DEPTH) -> bool:
    """Whether a call whose name ends in one of these words gave what values are made of."""
    if not isinstance(values, (list, tuple)):
        return False
    leaves = [leaf for value in values for _, leaf in alternatives(value)]
    return any(_from(leaf, words, depth) for leaf in leaves)


def _from(leaf: Value, words: tuple[str, ...], depth: int) -> bool:
    if isinstance(leaf, Seq):
        parts = leaf.items if leaf.items is not None else [leaf.element] if leaf.element is not None else []
        return _made_of(parts, words, depth)
    event: Event | None = leaf.event if isinstance(leaf, Obj) else None
    if event is None or not depth:
        return False
    return event.name.endswith(words) or _made_of((*event.args, *event.kwargs.values()), words, depth - 1)
