"""megatron-conflict: Megatron-LM is asked for deterministic mode and for something that it then refuses.

Sources: NVIDIA/Megatron-LM, megatron/training/arguments.py (validate_args, 2024 and 2025) and
megatron/training/determinism.py (2026); megatron-core 0.16.1, megatron/core/extensions/transformer_engine.py. What the
two generations of them judge alike is told with certainty; ``--use-flash-attn`` only the older one refuses.
"""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.configs.rules._drafts import command_finding, has_option
from d9mlint.configs.told import Start
from d9mlint.model import Finding, Location, Rule, Target

_OWN = (
    "--num-layers", "--hidden-size", "--num-attention-heads", "--micro-batch-size", "--global-batch-size",
    "--seq-length", "--tensor-model-parallel-size", "--pipeline-model-parallel-size", "--use-mcore-models",
    "--max-position-embeddings", "--tokenizer-type", "--transformer-impl",
)  # fmt: skip
"""Some of Megatron's many options; who takes two of them is Megatron."""
_COLLECTIVES = frozenset({"Tree", "Ring", "CollnetDirect", "CollnetChain", "^NVLS"})
_VALUES = {"NVTE_ALLOW_NONDETERMINISTIC_ALGO": ("0",), "CUBLAS_WORKSPACE_CONFIG": (":4096:8", ":16:8")}


def check_start(start: Start, rule: Rule, target: Target) -> Iterator[Finding]:
    """At each option or variable that stands against it."""
    if has_option(start, "--deterministic-mode") and sum(has_option(start, name) for name in _OWN) > 1:
        for at, breaks, remedy, confidence in _conflicts(start):
            yield command_finding(rule, start, remedy, at=at, confidence=confidence, breaks=breaks)


def _conflicts(start: Start) -> Iterator[tuple[Location, str, str, str]]:
    for word in start.arguments:
        if word.text == "--cross-entropy-loss-fusion":
            yield word.location, f"`{word.text}`", "leave the option out: the fused loss is not deterministic", ""
        elif word.text == "--use-flash-attn":
            yield (
                word.location,
                f"`{word.text}` (in versions before 2026)",
                "leave the option out, or use a newer Megatron-LM",
                "low",
            )
    collectives = start.environment.get("NCCL_ALGO")
    if collectives is not None and collectives.value is not None and _refused(collectives.value):
        yield collectives.location, f"`NCCL_ALGO={collectives.value}`", "set `NCCL_ALGO=Ring`", ""
    for name, accepted in _VALUES.items():
        variable = start.environment.get(name)
        if variable is not None and variable.value is not None and variable.value not in accepted:
            yield variable.location, f"`{name}={variable.value}`", f"set `{name}={accepted[0]}`", ""


def _refused(value: str) -> bool:
    """Whether one of the algorithms is none that any Megatron-LM accepts."""
    return any(one.strip() not in _COLLECTIVES for one in value.split(",") if one.strip())
