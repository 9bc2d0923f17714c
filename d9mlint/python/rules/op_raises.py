"""op-raises: deterministic ops are on and this op has no deterministic kernel."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.determinism import switch
from d9mlint.python.guards import both, is_symbolic, truth
from d9mlint.python.opuse import related, shown, uses
from d9mlint.python.program import Draft, Program


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Uses that will stop the program."""
    state = switch(program)
    switched = [Related(e.location, "deterministic ops are switched on here") for e in state.events[:2]]
    for use in uses(program):
        if use.status.deterministic_mode != "raises":
            continue
        cond = both(use.cond, state.on)
        if truth(cond, use.event.guards) is False or not is_symbolic(cond):
            continue
        yield program.draft(
            rule, use.event, cond=cond, related=[*switched, *related(use)], remedy=use.status.remedy,
            of_ops=[use.op],
            name=shown(use.event), confidence=use.confidence(rule),
            effect="gradient" if use.effect == "gradient" else "op", version=program.target.version("tensorflow"),
        )  # fmt: skip
