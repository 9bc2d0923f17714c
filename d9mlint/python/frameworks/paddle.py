"""What Paddle means to the interpreter."""

from __future__ import annotations

import re

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Obj, Value
from d9mlint.python.interpreter.hooks import Framework

_LAYER = "paddle.nn.Layer"
_MADE = re.compile(r"paddle\.nn\.[A-Z]\w*|paddlenlp\.transformers\.\w+\.from_(pretrained|config)")
"""Calls that make layers, and networks of them."""


class Paddle(Framework):
    """Paddle, and the networks of PaddleNLP."""

    packages = frozenset({"paddle", "paddlenlp"})
    plain_bases = frozenset({_LAYER, "paddle.io.Dataset", "paddle.io.IterableDataset"})
    network_bases = frozenset({_LAYER})
    asking = frozenset({f"{_LAYER}.state_dict"})
    layers: tuple[str, ...] = ("paddle.nn.",)

    def result(self, event: Event, origins: frozenset[str]) -> Value | None:
        """A layer, by the name of the call that makes it."""
        return Obj(f"{event.name}()", event, origins) if _MADE.fullmatch(event.name) else None
