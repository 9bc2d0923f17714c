"""Calls of PyTorch that hand out memory without writing to it."""

from __future__ import annotations

import re

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Seq, Value, alternatives

MAKERS = re.compile(
    r"torch\.(empty|empty_like|empty_strided|(cuda\.)?(Float|Half|Double|BFloat16)?Tensor|Tensor\.new_empty)"
)
_OF_SIZES = re.compile(r"torch\.(cuda\.)?\w*Tensor")
"""Makers that take sizes, or the numbers themselves."""


def is_unfilled(maker: Event) -> bool:
    """Whether one of these calls leaves the memory as it is: it is not given the numbers."""
    return not _OF_SIZES.fullmatch(maker.name) or _are_sizes(maker.args)


def fills_in_place(event: Event) -> bool:
    """Whether the name of a call says that it changes the tensor that it is called on: ``weight.normal_()``."""
    last = event.name.rpartition(".")[2]
    return last.endswith("_") and not last.endswith("__")


def _are_sizes(given: tuple[Value, ...]) -> bool:
    """Whether ``torch.Tensor(...)`` is given sizes: several numbers, or one that is known to be one."""
    plain = not any(isinstance(leaf, Seq) for value in given for _, leaf in alternatives(value))
    return plain and (len(given) > 1 or any(isinstance(one, Const) and isinstance(one.value, int) for one in given))
