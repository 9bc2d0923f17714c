"""onnx-gpu-session: ONNX Runtime on a GPU without deterministic compute."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Dict, Seq, Value
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_SESSION = "onnxruntime.InferenceSession"
_PROVIDERS = Argument(2, "providers")
_OPTIONS = Argument(3, "provider_options")
_SEARCH, _TIMED = "cudnn_conv_algo_search", "EXHAUSTIVE"
_FIXED = 'pass `{"cudnn_conv_algo_search": "DEFAULT"}` as the provider\'s options'
_GPU = ("CUDAExecutionProvider", "ROCMExecutionProvider")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each session that names a GPU first, where nothing asks for deterministic compute or algorithms are timed."""
    asked = bool(program.ending(".use_deterministic_compute", "set"))
    for event in program.calls(_SESSION):
        provider, options = _first(event)
        if provider not in _GPU or event.star:
            continue
        if options.get(_SEARCH) == _TIMED:
            yield draft(
                program, rule, event, severity="warning", confidence="high", provider=provider, remedy=_FIXED,
                does=f"with `{_SEARCH}: {_TIMED}`, which times cuDNN's convolution algorithms and takes the fastest",
            )  # fmt: skip
        elif not asked:
            yield draft(program, rule, event, provider=provider, does="without `use_deterministic_compute`")


def _first(event: Event) -> tuple[str, dict[str, object]]:
    """The provider that a session prefers, and its options; empty where they are not known."""
    value = event.argument(_PROVIDERS)
    first: Value | None = value.items[0] if isinstance(value, Seq) and value.items else None
    options = event.argument(_OPTIONS)
    given: Value | None = options.items[0] if isinstance(options, Seq) and options.items else None
    if isinstance(first, Seq) and first.items:
        first, *others = first.items  # with its options
        given = others[0] if others else given
    name = first.value if isinstance(first, Const) and isinstance(first.value, str) else ""
    items = given.items if isinstance(given, Dict) else {}
    return name, {str(key): one.value for key, one in items.items() if isinstance(one, Const)}
