"""The matrix of switches: which single change of the conditions makes runs equal names the family of the cause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from d9mlint.trace.child.parts import GPUS
from d9mlint.trace.run import LIGHT, Conditions

_HASH = {"PYTHONHASHSEED": "0"}


_TORCH, _TENSORFLOW = frozenset(("torch",)), frozenset(("tensorflow",))


class Switch(NamedTuple):
    """A change of the conditions."""

    name: str
    changes: str
    """In words."""
    inside: tuple[str, ...] = ()
    """What the child does."""
    env: Mapping[str, str] = {}
    uses: frozenset[str] = frozenset()
    """Only of interest for a program that uses one of these; empty: for all."""

    @property
    def conditions(self) -> Conditions:
        """For runs of the light probe."""
        return Conditions(LIGHT, self.name, self.inside, self.env)


_STARTED = "seeds"
SEEDED = (_STARTED, "absent seeds")
"""Generators are seeded at the start, and those that are made without a seed; what the program seeds itself stays."""
SEEDS = Switch(
    "seeds", "random, numpy, torch, tensorflow seeded at the start, seeds from clocks fixed, PYTHONHASHSEED=0",
    (_STARTED, "given seeds"), _HASH,
)  # fmt: skip
JIT_OFF = Switch("jit off", "JAX_DISABLE_JIT=1", (), {"JAX_DISABLE_JIT": "1"}, frozenset(("jax",)))
MATRIX = (
    Switch("hash seed", "PYTHONHASHSEED=0", (), _HASH),
    SEEDS,
    Switch(
        "deterministic", "torch.use_deterministic_algorithms(True), CUBLAS_WORKSPACE_CONFIG", ("deterministic",),
        {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}, _TORCH,
    ),
    Switch(
        "deterministic", "tf.config.experimental.enable_op_determinism()", ("deterministic",), {},
        _TENSORFLOW,
    ),
    Switch(
        "one thread", "OMP_NUM_THREADS=1, torch.set_num_threads(1)", ("threads",),
        {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}, _TORCH,
    ),
    Switch(
        "one thread", "tf.config.threading: one thread inside of ops and between them", ("threads",),
        {"OMP_NUM_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}, _TENSORFLOW,
    ),
    Switch("workers 0", "DataLoader(num_workers=0)", ("workers",), {}, frozenset(("workers",))),
    Switch(
        "compile off", "TORCH_COMPILE_DISABLE=1", ("compile",), {"TORCH_COMPILE_DISABLE": "1"}, frozenset(("compile",)),
    ),
    JIT_OFF,
    Switch("one GPU", "CUDA_VISIBLE_DEVICES: the first of those that are visible", ("gpu",), {}, frozenset((GPUS,))),
)  # fmt: skip


FIXED = Switch(
    "implementation fixed", "deterministic ops, one thread", ("deterministic", "threads"),
    {**dict(pair for one in MATRIX if one.name in ("deterministic", "one thread") for pair in one.env.items())},
)  # fmt: skip


def applying(uses: tuple[str, ...]) -> list[Switch]:
    """The switches that can matter to a program that uses this; of two of one name the first."""
    found = {one.name: one for one in reversed(MATRIX) if not one.uses or one.uses.intersection(uses)}
    return [one for one in MATRIX if found.get(one.name) is one]


def with_seeds(switches: list[Switch]) -> list[Switch]:
    """For programs with two causes: the seeds and each other switch at once."""
    return [
        Switch(f"seeds + {one.name}", f"both: {one.changes}", (*SEEDS.inside, *one.inside), {**SEEDS.env, **one.env})
        for one in switches
        if one.name not in ("hash seed", SEEDS.name)
    ]
