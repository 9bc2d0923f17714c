"""constant-device-test: a condition about the device that never holds keeps a seed or a switch from being set."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Seq
from d9mlint.python.frameworks.torch.devicetests import DEVICE, KIND
from d9mlint.python.frameworks.torch.mode import WORKSPACE
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_WORDS = frozenset(
    {
        "manual_seed", "manual_seed_all", "seed", "set_seed", "seed_everything", "use_deterministic_algorithms",
        "set_deterministic", "deterministic", "benchmark", WORKSPACE,
    }
)  # fmt: skip
"""Names of seeds and switches."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Conditions whose untaken branch names a seed or a switch."""
    for event in (e for e in program.events if e.kind == KIND):
        lost = sorted(_WORDS & _words(event))
        if not lost:
            continue
        text, outcome = event.kwargs["text"], event.kwargs["outcome"]
        written = text.value if isinstance(text, Const) else ""
        why = "a `torch.device` is never equal to a string" if event.name == DEVICE else f"`{event.name}` is not called"
        holds = isinstance(outcome, Const) and outcome.value
        yield draft(
            program,
            rule,
            event,
            text=written,
            holds="is always true" if holds else "is never true",
            why=why,
            lost=lost[0],
        )


def _words(event: Event) -> set[str]:
    value = event.args[0] if event.args else None
    items = (value.items or ()) if isinstance(value, Seq) else ()
    return {str(item.value) for item in items if isinstance(item, Const)}
