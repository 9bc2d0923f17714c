"""XLA turned on where its kernels differ from run to run."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, is_symbolic, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.tensorflow.compilers import Request, requests
from d9mlint.python.frameworks.tensorflow.determinism import switch, trains
from d9mlint.python.frameworks.tensorflow.devices import on_gpu
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.rules.ops._varying_ops import SWITCH

SCATTERS = ("tensorflow.scatter_nd", "tensorflow.tensor_scatter_nd_add", "tensorflow.tensor_scatter_nd_sub",
            "tensorflow.math.unsorted_segment_sum", "tensorflow.math.segment_sum", "tensorflow.gather",
            "tensorflow.nn.embedding_lookup", "keras.layers.Embedding")  # fmt: skip
"""Ops that XLA compiles to a scatter, forwards or for their gradient."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each place that turns XLA on and that nothing cures on this version."""
    gpu = on_gpu(program)
    gpu = gpu if is_symbolic(gpu) else True
    for asked in requests(program):
        request = Request(asked.event, both(asked.cond, gpu), asked.code)
        if both(*request.event.guards, request.cond) is False:
            continue
        if program.target.fits("tensorflow", "<2.2"):
            reason = "before TF 2.2 its GPU reductions use atomics, whatever else is set"
            yield _draft(program, rule, request, reason)
        else:
            yield from _since_22(program, rule, request)


def _since_22(program: Program, rule: Rule, request: Request) -> Iterator[Draft]:
    """Reductions are cured by the switch from 2.2 on, scatters only from 2.8 on."""
    on = switch(program).on
    wanted, what = "enable_op_determinism()", "scatters and kernel choice"
    if program.target.fits("tensorflow", "<2.8"):
        wanted, what = "TF_DETERMINISTIC_OPS=1", "GPU reductions"
    missing = both(request.cond, negate(on))
    if missing is not False:
        yield _draft(program, rule, Request(request.event, missing, request.code),
                     f"its {what} vary from run to run without `{wanted}`")  # fmt: skip
    if program.target.fits("tensorflow", "<2.8"):
        cured = both(request.cond, on)
        scatter = next((e for e in program.calls(*SCATTERS) if not e.detached), None)
        if scatter is not None and cured is not False and is_symbolic(cured):
            reason = f"the scatter that `{scatter.raw.rpartition('.')[2]}` needs uses atomics before TF 2.8"
            yield _draft(program, rule, Request(request.event, cured, request.code), reason, scatter)


def _draft(program: Program, rule: Rule, request: Request, reason: str, scatter: Event | None = None) -> Draft:
    sure = is_symbolic(request.cond)
    training = bool(trains(program)) or program.story.local
    confidence = "low" if not (sure and training) else "medium" if scatter else rule.confidence
    related = [Related(scatter.location, "compiled to a scatter")] if scatter else []
    cause = SWITCH if program.target.fits("tensorflow", ">=2.8") else ""  # (which cures whatever else varies, too)
    return draft(program, rule, request.event, cond=request.cond, confidence=confidence,
                         related=related, code=request.code, reason=reason, cause=cause)  # fmt: skip
