"""When a session of TensorFlow 1 runs the training steps that a graph has: building one computes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.python.domain.conditions import Cond, both, either
from d9mlint.python.domain.tellable import loosened
from d9mlint.python.domain.values import Dict, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.tensorflow.determinism import builds, trains
from d9mlint.python.frameworks.tensorflow.sessionruns import FETCHES, RUN, SESSIONS
from d9mlint.python.frameworks.tensorflow.waiting import with_steps
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, made_of, results

_JOINS = ("tensorflow.group", "tensorflow.control_dependencies")
"""Calls that are given ops, and run none."""
_HOLDERS = ("builtins.", "collections.", "dataclasses.", "types.")
"""How calls begin that only keep what they are given."""
_DEPTH = 4


def step_fetched(program: Program) -> Cond:
    """When a session is asked for a training step; true wherever something else may run one, or train.

    What cannot be told to a user, such as which of two optimizers a variable picks, is left out.
    """
    return program.once("step-fetched", _step_fetched)


def _step_fetched(program: Program) -> Cond:
    if not program.calls(*SESSIONS, RUN):
        return True
    todo = [event for event in trains(program) if not event.detached]
    steps = {id(event) for event in todo if builds(event, whole=True)}
    if not steps or not all(map(builds, todo)):
        return True
    makers = results(program)
    made = with_steps(program, steps)
    if _handed_on(program, made, makers):
        return True
    runs = [event for event in program.calls(RUN) if not event.detached]
    asked = (leaf for event in runs for _, leaf in _within(event.argument(FETCHES)))
    if not any(id(one) in made for leaf in asked for one in made_of(leaf, makers)):
        return True
    ways = [
        both(*event.guards, cond)
        for event in runs for cond, leaf in _within(event.argument(FETCHES)) if _may_be_step(leaf, made, makers)
    ]  # fmt: skip
    return loosened(either(*ways))


def _may_be_step(leaf: Value, made: set[int], makers: Makers) -> bool:
    """Whether what is fetched may be a step: a list that grows, a value of which only the name is known."""
    if isinstance(leaf, (Seq, Dict)):
        return leaf.open if isinstance(leaf, Dict) else leaf.items is None
    if found := [id(one) for one in made_of(leaf, makers)]:
        return any(one in made for one in found)
    named = isinstance(leaf, (Ref, Unknown)) and leaf.name
    return bool(named) and not (isinstance(leaf, Ref) and leaf.name.startswith("tensorflow."))


def _handed_on(program: Program, made: set[int], makers: Makers) -> bool:
    """Whether something else is given a step, and may run it: ``slim.learning.train(step)``, ``step.run()``."""
    for event in program.events:
        if event.kind not in ("call", "unresolved") or event.name in (*_JOINS, RUN):
            continue
        if event.name.startswith(_HOLDERS):
            continue
        given = (event.receiver, *event.args, *event.kwargs.values())
        if any(id(one) in made for value in given for _, leaf in _within(value) for one in made_of(leaf, makers)):
            return True
    return False


def _within(value: Value | None, depth: int = _DEPTH) -> Iterator[tuple[Cond, Value]]:
    """What is in a value, in lists and dicts, too, and when."""
    for cond, leaf in alternatives(value):
        yield cond, leaf
        if isinstance(leaf, (Seq, Dict)) and depth:
            inside = leaf.items.values() if isinstance(leaf, Dict) else (*(leaf.items or ()), leaf.element)
            for part in inside:
                yield from ((both(cond, inner), one) for inner, one in _within(part, depth - 1))
