"""batch-variance: a server of vLLM or SGLang that is started by a command.

Sources: docs.vllm.ai, usage/reproducibility (what makes the scheduling deterministic is for offline use only) and
features/batch_invariance; docs.sglang.io, advanced_features/deterministic_inference.
"""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.configs.rules._drafts import command_finding, has_option, is_known
from d9mlint.configs.told import Start
from d9mlint.model import Finding, Rule, Target

_VARIABLE = "VLLM_BATCH_INVARIANT"
_SERVERS = ("vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server")
_SGLANG = "sglang.launch_server"


def check_start(start: Start, rule: Rule, target: Target) -> Iterator[Finding]:
    """At each server whose answers may depend on what else is in its batches."""
    if start.module and start.script == _SGLANG:
        if is_known(start) and not has_option(start, "--enable-deterministic-inference"):
            yield command_finding(
                rule,
                start,
                "add `--enable-deterministic-inference` (slower)",
                name=f"python -m {_SGLANG}",
                engine="SGLang",
            )
    elif (name := _vllm(start)) and not _invariant(start, target):
        invariant = target.fits("vllm", ">=0.11.1")
        remedy = (
            f"set `{_VARIABLE}=1` in the environment of the server (slower; see vLLM's page for GPUs and models)"
            if invariant else "batch-invariant kernels came with vllm 0.11.1"
        )  # fmt: skip
        yield command_finding(rule, start, remedy, name=name, engine="vLLM")


def _vllm(start: Start) -> str:
    """How a server of vLLM is started; empty where none is."""
    if start.program and start.script == "vllm":
        return "vllm serve" if start.arguments and start.arguments[0].text == "serve" else ""
    return f"python -m {start.script}" if start.module and start.script in _SERVERS else ""


def _invariant(start: Start, target: Target) -> bool:
    """Whether its kernels are batch-invariant, or nobody can tell."""
    variable = start.environment.get(_VARIABLE)
    if variable is None or not target.fits("vllm", ">=0.11.1"):
        return False
    return variable.value is None or variable.value == "1"
