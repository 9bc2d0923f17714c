"""unseeded-generation: vLLM samples tokens with a generator that nothing seeds."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import both, is_symbolic, negate, truth
from d9mlint.python.frameworks import serving
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_WHEN = {"seed": "absent", "temperature": {"not": [0]}}


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each set of parameters that samples without a seed, where the engine has none either."""
    engine = serving.seeded(program)
    for event in program.calls(*serving.SAMPLING):
        cond = both(program.holds(event, _WHEN), negate(engine))
        if not event.star and truth(cond, event.guards) is not False and is_symbolic(cond):
            yield draft(program, rule, event, cond=cond, version=program.target.version("vllm") or "")
