"""Engines that serve models: what decides whether their output depends on the other requests of a batch."""

from __future__ import annotations

from d9mlint.model import Argument
from d9mlint.python.domain.conditions import Cond, both, either, negate, opaque_test
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Dict, FlagValue, Seq, Value, alternatives
from d9mlint.python.frameworks.tensorflow.determinism import setting
from d9mlint.python.interpreter.program import Program, is_none, matches
from d9mlint.python.interpreter.provenance import made_by

VLLM = ("vllm.LLM", "vllm.entrypoints.llm.LLM")
VLLM_ARGUMENTS = (
    "vllm.EngineArgs", "vllm.AsyncEngineArgs", "vllm.engine.arg_utils.EngineArgs",
    "vllm.engine.arg_utils.AsyncEngineArgs",
)  # fmt: skip
SAMPLING = ("vllm.SamplingParams", "vllm.sampling_params.SamplingParams")
SGLANG = ("sglang.Engine", "sglang.srt.entrypoints.engine.Engine")
INVARIANT = "VLLM_BATCH_INVARIANT"
IN_PROCESS = "VLLM_ENABLE_V1_MULTIPROCESSING"


def turned_on(program: Program, variable: str) -> Cond:
    """When a boolean variable is set to 1."""
    return either(*(both(*e.guards, setting(e).on) for e in program.env(variable) if not e.detached))


def turned_off(program: Program, variable: str) -> Cond:
    """When a boolean variable is set to 0; a value that is not known is a condition that nobody can tell."""
    return either(*(both(*e.guards, setting(e).off) for e in program.env(variable) if not e.detached))


def asked(event: Event, keyword: str) -> Cond:
    """When a call gets a keyword argument that is true; where that is hidden, a condition that nobody can tell."""
    value = event.argument(Argument(None, keyword))
    return False if value is None else either(*(both(c, _true(leaf)) for c, leaf in alternatives(value)))


def launched_outside(event: Event) -> Cond:
    """When an engine of vLLM runs in the process that makes it, whatever the environment says.

    ``ParallelConfig.__post_init__`` sets ``VLLM_ENABLE_V1_MULTIPROCESSING=0`` itself then (vllm/config/parallel.py).
    """
    backend = event.argument(Argument(None, "distributed_executor_backend"))
    return False if backend is None else matches(backend, "external_launcher")


def one_by_one(program: Program, engine: Event) -> bool:
    """Whether an engine is surely given one prompt at a time: all that is asked of it is one text each."""
    asked = [
        e for e in program.events
        if e.kind == "call" and e.receiver is not None and any(made is engine for made in made_by(e.receiver))
    ]  # fmt: skip
    given = [e.args[0] if e.args else e.kwargs.get("prompts") for e in asked if e.name.endswith(".generate")]
    return bool(given) and len(given) == len(asked) and all(map(_one_text, given))


def _one_text(value: Value | None) -> bool:
    if isinstance(value, Seq):
        return value.kind == "list" and value.items is not None and len(value.items) == 1 and _one_text(value.items[0])
    return isinstance(value, Dict) or (isinstance(value, Const) and isinstance(value.value, str))


def _true(leaf: Value) -> Cond:
    if isinstance(leaf, (Const, FlagValue)):
        return matches(leaf, True)
    return opaque_test(("unknown", id(leaf)), "a value that is not known")


def seeded(program: Program) -> Cond:
    """When an engine of vLLM gets a seed."""
    found: list[Cond] = []
    for event in program.calls(*VLLM, *VLLM_ARGUMENTS):
        value = event.argument(Argument(None, "seed"))
        if value is not None:
            unknown = not isinstance(value, (Const, FlagValue))
            hidden = opaque_test(("seed", id(value)), "a value that is not known")
            found.append(hidden if unknown else negate(is_none(value)))
    return either(*found)
