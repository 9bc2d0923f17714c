"""batch-variance: an engine forms batches as requests come, and kernels round by the shape of the batch."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import Cond, both, either, is_symbolic, negate, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks import serving
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_SGLANG_REMEDY = (
    "make it with `sglang.Engine(..., enable_deterministic_inference=True)`, "
    "or start the server with `--enable-deterministic-inference`"
)


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each engine whose output may depend on what else is in its batches."""
    scheduled = serving.turned_off(program, serving.IN_PROCESS)
    if program.target.fits("vllm", ">=0.11.1"):
        scheduled = either(scheduled, serving.turned_on(program, serving.INVARIANT))
    for event in program.calls(*serving.VLLM):
        # (The engine before 0.8 runs in this process, in a fixed order.)
        if program.target.fits("vllm", ">=0.8") and not serving.one_by_one(program, event):
            cured = either(scheduled, serving.launched_outside(event))
            yield from _draft(program, rule, event, cured, "vLLM", "")
    for event in program.calls(*serving.SGLANG):
        on = serving.asked(event, "enable_deterministic_inference")
        yield from _draft(program, rule, event, on, "SGLang", _SGLANG_REMEDY)


def _draft(
    program: Program, rule: Rule, event: Event, cured: Cond, engine: str, remedy: str
) -> Iterator[Draft]:  # fmt: skip
    cond = negate(cured)
    if event.star or truth(cond, event.guards) is False or not is_symbolic(cond):
        return
    yield draft(program, rule, event, cond=both(cond), name=event.raw, engine=engine, remedy=remedy)
