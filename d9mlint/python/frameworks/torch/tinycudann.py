"""Encodings of tiny-cuda-nn: their kind stands in a dict among other settings, ``{"otype": "HashGrid"}``.

Source: bindings/torch/tinycudann/modules.py of 1.7 and 2.0 (``Encoding``, ``NetworkWithInputEncoding``).
"""

from __future__ import annotations

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Dict, Value
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.interpreter import Interpreter

_KIND = "otype"


def _note_kind(settings: Argument) -> Transfer:
    def note(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
        """Notes at a call which encoding its settings ask for."""
        given = event.argument(settings)
        kind = interp.heap.item(given, _KIND) if isinstance(given, Dict) else None
        if kind is not None:
            event.kwargs[_KIND] = interp.resolve(kind)
        return None

    return note


TRANSFER: dict[str, Transfer] = {
    "tinycudann.Encoding": _note_kind(Argument(1, "encoding_config")),
    "tinycudann.NetworkWithInputEncoding": _note_kind(Argument(2, "encoding_config")),
}
