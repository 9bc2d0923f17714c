"""op-raises: deterministic ops are on and this op has no deterministic kernel."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import Cond, both, is_symbolic, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.jax.mode import jax_mode
from d9mlint.python.frameworks.tensorflow.determinism import switch
from d9mlint.python.frameworks.torch.mode import torch_mode
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.ops.cures import remedy_of
from d9mlint.python.judging.ops.opcalls import call_of
from d9mlint.python.judging.ops.opuse import Use, related, uses

_MODES = {"torch": "deterministic algorithms", "jax": "XLA's deterministic ops"}
_NAMES = {"jax": "JAX", "tensorflow": "TensorFlow", "torch": "PyTorch"}


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Uses that will stop the program."""
    for use in uses(program):
        if use.status.deterministic_mode != "raises":
            continue
        on, events = _mode(program, use)
        cond = both(use.cond, on)
        if truth(cond, use.event.guards) is False or not is_symbolic(cond):
            continue
        name = _MODES.get(use.op.framework, "deterministic ops")
        switched = [Related(e.location, f"{name} are switched on here") for e in events[:2]]
        yield draft(
            program,
            rule, use.at, cond=both(*use.event.guards, cond), related=[*switched, *related(use)],
            remedy=remedy_of(program, use), confidence=use.confidence(rule), of_calls=[call_of(program, use)],
            name=use.name,
            cause=f"{rule.cause}-{use.op.name}",
            mode=name,
            effect="gradient" if use.effect == "gradient" else "op", where=_where(program, use),
        )  # fmt: skip


def _mode(program: Program, use: Use) -> tuple[Cond, tuple[Event, ...]]:
    """When the mode is on in which the op raises, and what turns it on."""
    if use.op.framework == "torch":
        mode = torch_mode(program)
        return mode.raises, mode.events
    if use.op.framework == "jax":
        flags = jax_mode(program)
        return flags.on, flags.events
    state = switch(program)
    return state.on, state.events


def _where(program: Program, use: Use) -> str:
    """Of the catalogue's ops the version that has no kernel; the user's own have none in whatever version."""
    framework = use.op.framework
    return "" if use.op.sites else f" in {_NAMES.get(framework, framework)} {program.target.version(framework)}"
