"""Every rank draws its own initial weights, and nothing makes them equal."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, either, is_symbolic, negate
from d9mlint.python.domain.taint import taint
from d9mlint.python.frameworks.horovod import broadcasts, wraps
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.randomness import draws
from d9mlint.python.judging.seedings import seedings

_LOADS = frozenset({"load_weights", "restore", "load_model", "from_pretrained", "set_weights", "load_checkpoint"})


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each seed that holds the rank and that the weights are drawn from."""
    summed = [w.event for w in wraps(program) if not w.event.detached]
    if not summed or any(e.name.rpartition(".")[2] in _LOADS for e in program.events):
        return
    equal = either(*(both(*e.guards) for e in broadcasts(program)))
    if not is_symbolic(equal):
        return
    generators = {d.generator for d in draws(program) if d.implicit} or {"tensorflow"}
    for seeding in seedings(program):
        if not generators & set(seeding.generators) or seeding.value is None:
            continue
        origins, _, sources = taint([seeding.value])
        cond = both(negate(equal), program.training)
        if "rank" in origins and cond is not False:
            related = [Related(e.location, "the rank") for e in sources if e.location != seeding.event.location]
            related.append(Related(summed[0].location, "gradients are summed over ranks whose weights differ"))
            name = seeding.event.raw.rpartition(".")[2]
            yield draft(program, rule, seeding.event, cond=cond, related=related, name=name)
