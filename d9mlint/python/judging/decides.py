"""What the numbers of a draw decide in a training: the order of the data, dropout, the initial weights ..."""

from __future__ import annotations

import re

from d9mlint.python.judging.randomness import Draw

_WORDS = (
    (re.compile(r"shuffle|randperm|permut|choice|\.sample$|sampler|_split$"), "an order or a choice"),
    (re.compile(r"dropout"), "dropout"),
    (re.compile(r"transforms|augment|albumentations|imgaug|\.image\.|random_(crop|flip|rotation)"), "augmentation"),
    (re.compile(r"\.init\.|initializers|xavier|kaiming|orthogonal"), "initial weights"),
)  # fmt: skip
_DATA, _WEIGHTS, _NUMBERS = "the order or choice of the examples", "initial weights", "random numbers"
_TELLING = (_DATA, "an order or a choice", "augmentation", "dropout", _NUMBERS, _WEIGHTS)
"""What tells a reader most comes first: that layers have random weights is known."""


def decides(draw: Draw) -> str:
    """What a draw is for, as far as its name says."""
    if draw.is_data:
        return _DATA
    name = draw.event.name.lower()
    found = next((words for pattern, words in _WORDS if pattern.search(name)), None)
    return found or (_WEIGHTS if draw.implicit else _NUMBERS)


def rank(draw: Draw) -> int:
    """Draws in the order in which they are worth telling."""
    return _TELLING.index(decides(draw))
