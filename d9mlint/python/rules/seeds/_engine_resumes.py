"""Training that goes on from the checkpoint of an engine of DeepSpeed: it holds weights, optimizer, schedule and steps.

Source: deepspeed/runtime/engine.py (``_save_checkpoint``), 0.3 to 0.17; of random generators it holds none.
"""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import both, symbolic_part
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.randomness import draws
from d9mlint.python.rules.seeds._lost import told
from d9mlint.python.rules.seeds._resuming import feeds, places

_ENGINE = "deepspeed.DeepSpeedEngine."


def of_engines(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first save of an engine that also loads, and then trains with random numbers."""
    saves = [e for e in program.calls(f"{_ENGINE}save_checkpoint") if not e.detached]
    for load in program.calls(f"{_ENGINE}load_checkpoint"):
        saved = next((e for e in saves if e.meets(load)), None)
        after = [e for e in program.trains if e.index > load.index and e.meets(load)]
        loops = {number for event in after for number in event.loops}
        if load.detached or saved is None or not loops:
            continue
        drawn = next((d.event for d in draws(program) if feeds(d, load, loops)), None)
        if drawn is not None:
            related = places(load, drawn)
            cond = symbolic_part(both(*load.guards))
            yield draft(program, rule, saved, cond=cond, related=related, holds="weights and optimizer", lacks=told(()))
            return
