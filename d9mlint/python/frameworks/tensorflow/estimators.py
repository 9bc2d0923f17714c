"""Estimators, which make the graph by themselves: what seeds it is a part of their configuration."""

from __future__ import annotations

from d9mlint.python.domain.values import Obj
from d9mlint.python.interpreter.program import Program

ESTIMATOR = "tensorflow.estimator.Estimator"


def remedy(program: Program) -> str:
    """How the graph of an Estimator is seeded; empty for programs without any (estimator.py, ``_train_model``)."""
    if not program.once("estimators", _has_estimator):
        return ""
    return "`RunConfig(tf_random_seed=1)` for the Estimator, which makes its graph by itself and seeds it with that"


def _has_estimator(program: Program) -> bool:
    return any(isinstance(e.result, Obj) and e.result.type == ESTIMATOR and not e.detached for e in program.events)
