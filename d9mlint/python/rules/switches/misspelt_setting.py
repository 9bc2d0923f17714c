"""misspelt-setting: Python takes any attribute and any variable, so a wrong name sets nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from d9mlint.model import Rule
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_SETTINGS = {
    "torch.backends.cudnn": (
        "enabled", "deterministic", "benchmark", "benchmark_limit", "allow_tf32", "conv", "rnn", "fp32_precision",
        "depthwise_kernel",
    ),
    "torch.utils.deterministic": ("fill_uninitialized_memory",),
}  # fmt: skip
"""The settings of modules that keep any other attribute without a word (torch/backends/cudnn/__init__.py)."""
_ELSEWHERE = ("deterministic", "benchmark")
"""Settings of cuDNN that people look for in other modules."""
_MODULES = ("torch", "torch.backends", "torch.cuda", "torch.backends.cuda", "torch.backends.mkldnn", "torch.cudnn")
_VARIABLES = (
    "CUBLAS_WORKSPACE_CONFIG", "TORCHINDUCTOR_DETERMINISTIC", "NVTE_ALLOW_NONDETERMINISTIC_ALGO", "PYTHONHASHSEED",
    "TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC", "TF_CUDNN_USE_FRONTEND", "FLASH_ATTENTION_DETERMINISTIC",
)  # fmt: skip


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Assignments to attributes and variables that nothing reads, close to one that is read."""
    for event in program.events:
        if event.kind == "set":
            module, _, name = event.name.rpartition(".")
            meant = _meant(module, name)
        elif event.kind == "env":
            module, name = "os.environ", event.name
            meant = "" if name in _VARIABLES else _closest(name, _VARIABLES, 0.9)
        else:
            continue
        if meant:
            given = f'os.environ["{name}"]' if event.kind == "env" else event.name
            yield draft(program, rule, event, name=given, meant=meant)


def _meant(module: str, name: str) -> str:
    known = _SETTINGS.get(module)
    if known is not None:
        found = "" if name in known else _closest(name, known, 0.75)
        return f"{module}.{found}" if found else ""
    return f"torch.backends.cudnn.{name}" if module in _MODULES and name in _ELSEWHERE else ""


def _closest(name: str, known: Sequence[str], cutoff: float) -> str:
    from difflib import get_close_matches  # most programs need it for nothing

    return next(iter(get_close_matches(name, known, 1, cutoff)), "")
