"""The environment that children are started in: without switches that are compared, on the device asked for."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Mapping

_REMOVED = (
    "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC", "TF_CUDNN_USE_AUTOTUNE", "TF_CUDNN_USE_FRONTEND",
    "TF_DISABLE_SEGMENT_REDUCTION_OP_DETERMINISM_EXCEPTIONS", "TF_XLA_FLAGS", "TF_ENABLE_ONEDNN_OPTS",
    "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "CUDA_LAUNCH_BLOCKING", "JAX_DEFAULT_MATMUL_PRECISION",
    "TORCHINDUCTOR_DETERMINISTIC", "TORCHINDUCTOR_MAX_AUTOTUNE", "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM",
    "TORCHINDUCTOR_MAX_AUTOTUNE_POINTWISE", "TORCHINDUCTOR_COORDINATE_DESCENT_TUNING", "MKL_CBWR",
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip
"""What a shell may have set that changes what is compared: deterministic kernels, autotuning, TF32, threads."""
_PARKED = {"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "1"}
"""Threads of OpenMP (GNU's, Intel's) that wait for others sleep after some 0.05 or 1 ms.

By themselves they spin for many milliseconds, on a loaded machine on the very core that the others need: a run of
0.1 ms then takes 8 or 16."""
_DETERMINISM_FLAG = re.compile(
    r"(?:^|\s)--xla_gpu_(?:deterministic_\w+|exclude_nondeterministic_ops|autotune_level)(?:=\S*)?"
)
_NUMBER = re.compile(r"\d+")


def removed(shell: Mapping[str, str] | None = None) -> dict[str, str]:
    """What of the shell's environment children are not given, to be recorded; XLA_FLAGS by the flags that go."""
    shell = os.environ if shell is None else shell
    found = {name: shell[name] for name in _REMOVED if name in shell}
    flags = "".join(_DETERMINISM_FLAG.findall(shell.get("XLA_FLAGS", ""))).strip()
    return {**found, **({"XLA_FLAGS": flags} if flags else {})}


def environment(device: str, shell: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a child on a device (``auto``, ``cpu``, ``gpu``, ``gpu:1``, ``gpu:MIG-...``).

    Each has another hash seed.
    """
    shell = os.environ if shell is None else shell
    env = {name: value for name, value in shell.items() if name not in _REMOVED}
    env["PYTHONHASHSEED"] = str(random.SystemRandom().randrange(2**32))
    env["TF_CPP_MIN_LOG_LEVEL"] = "2"
    for name, value in _PARKED.items():
        env.setdefault(name, value)
    if "XLA_FLAGS" in env:
        env["XLA_FLAGS"] = _DETERMINISM_FLAG.sub("", env["XLA_FLAGS"]).strip()
    kind, _, card = device.partition(":")
    if kind == "cpu":
        env["CUDA_VISIBLE_DEVICES"] = "-1"
    elif card:
        env["CUDA_VISIBLE_DEVICES"] = _visible(card, shell)
        env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # the numbers of nvidia-smi, not the fastest first
    return env


def _visible(card: str, shell: Mapping[str, str]) -> str:
    """A number counts among the cards that the shell shows, as it does for CUDA; a UUID stands for itself."""
    shown = [one.strip() for one in shell.get("CUDA_VISIBLE_DEVICES", "").split(",") if one.strip()]
    if shown and _NUMBER.fullmatch(card):
        return shown[int(card)] if int(card) < len(shown) else "-1"
    return card
