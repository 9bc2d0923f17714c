"""Functions whose names say that nothing is trained there."""

from __future__ import annotations

import re

from d9mlint.python.domain.values import Func

_INFERRING = re.compile(
    r"(^|_)(eval|evaluate|evaluation|evaluator|export|exporter|serving|sampler|infer|greedy|beam_search)(_|$)"
)
_INFERRING_CLASS = re.compile(r"Evaluator|Exporter|Sampler|Infer(?!ence)|BeamSearch|Greedy")


def infers(func: Func) -> bool:
    """Whether the name of a function or of its class says that it evaluates, exports or samples."""
    owner = func.owner.node.name if func.owner is not None else ""
    return bool(_INFERRING.search(func.name) or _INFERRING_CLASS.search(owner))
