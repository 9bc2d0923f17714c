"""onnx-gpu-session: ONNX Runtime on a GPU without deterministic compute."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Seq, Value
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_SESSION = "onnxruntime.InferenceSession"
_PROVIDERS = Argument(2, "providers")
_GPU = ("CUDAExecutionProvider", "ROCMExecutionProvider")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each session that names a GPU first, where no session options ask for deterministic compute."""
    if any(e.kind == "set" and e.name.endswith(".use_deterministic_compute") for e in program.events):
        return
    for event in program.calls(_SESSION):
        provider = _first(event)
        if provider in _GPU and not event.star:
            yield draft(program, rule, event, provider=provider)


def _first(event: Event) -> str:
    """The provider that a session prefers; empty where it is not known."""
    value = event.argument(_PROVIDERS)
    first: Value | None = value.items[0] if isinstance(value, Seq) and value.items else None
    if isinstance(first, Seq) and first.items:  # with its options
        first = first.items[0]
    return first.value if isinstance(first, Const) and isinstance(first.value, str) else ""
