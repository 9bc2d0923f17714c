"""Functions whose names say that nothing is trained there."""

from __future__ import annotations

import re

from d9mlint.python.domain.values import Func

_INFERRING = re.compile(
    r"(^|_)(eval|evaluate|evaluation|evaluator|export|exporter|serving|sampler|infer|greedy|beam_search)(_|$)"
)
_INFERRING_CLASS = re.compile(r"Evaluator|Exporter|Sampler|Infer(?!ence)|BeamSearch|Greedy")

_INTERPOLATES = re.compile(
    r"(linear|cubic|nearest|grid|warp|spatial|interpol\w*|flow|image|feature|pixel)_?sampler", re.IGNORECASE
)
"""Names of what samples an image at given places, as a network does that is trained: ``bilinear_sampler``."""


def infers(func: Func) -> bool:
    """Whether the name of a function or of its class says that it evaluates, exports or samples."""
    owner = func.owner.node.name if func.owner is not None else ""
    named = _INFERRING.search(func.name) or _INFERRING_CLASS.search(owner)
    return named is not None and not _INTERPOLATES.search(f"{owner}.{func.name}")
