"""Functions that drop at random: unlike layers, they do so in evaluation mode, too, unless they are told.

Source: torch/nn/functional.py, ``dropout(input, p=0.5, training=True, inplace=False)``.
"""

from __future__ import annotations

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const

_DROPS = frozenset(
    f"torch.nn.functional.{name}"
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
)
_TRAINING = Argument(2, "training")


def whatever_mode(event: Event) -> bool | None:
    """Whether the numbers that it draws count in any mode, or in none; None where the mode of a module decides."""
    if event.name == "torch.nn.functional.gumbel_softmax":
        return True
    if event.name not in _DROPS:
        return None
    value = event.argument(_TRAINING)
    return True if value is None else bool(value.value) if isinstance(value, Const) else None
