"""determinism-without-seed: with deterministic ops on, a random op without any seed raises."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, is_symbolic, truth
from d9mlint.python.frameworks.tensorflow.determinism import switch, turned_on
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.ops.opuse import shown
from d9mlint.python.judging.randomness import Uncovered, uncovered


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the switch, with the first draw that will raise."""
    draws = [u for u in uncovered(program) if u.draw.generator == "tensorflow" and u.sure]
    for event in switch(program).events:
        found = _first(draws, event.index)
        if found is None:
            continue
        cond = both(turned_on(event), *found.draw.event.guards, found.cond)
        if truth(cond, event.guards) is False or not is_symbolic(cond):
            continue
        yield draft(
            program,
            rule, event, cond=cond, name=shown(found.draw.event), line=found.draw.event.location.line,
            related=[Related(found.draw.event.location, "raises RuntimeError: no seed is set")],
        )  # fmt: skip
        return


def _first(draws: list[Uncovered], after: int) -> Uncovered | None:
    return next((u for u in draws if u.draw.event.index > after or u.draw.event.deferred), None)
