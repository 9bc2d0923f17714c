"""Where ops are from: lines behind AutoGraph's generated code, and layers of Keras by where they were made."""

from __future__ import annotations

import sys
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..importing import Importing
    from ..recorder import Recorder
    from ..wrapping import Wrapping

_LAYERS = (("keras.src.layers.layer", "Layer"), ("tf_keras.src.engine.base_layer", "Layer"))
_STACKS = "tensorflow.python.util.tf_stack"


def ident(tensor: Any) -> int:
    """What a tensor is known by, eager or in a graph: TensorFlow numbers them."""
    return int(getattr(tensor, "_id", 0) or id(tensor))


class Forward:
    """Where ops are from, so that the ops of a gradient are told where the op is that it is the gradient of."""

    def __init__(self) -> None:
        self._made: dict[int, int] = {}
        """By tensor, the place of the op that it is from."""
        self._read: dict[tuple[str, int, int], list[int]] = {}
        """By type of op, position and tensor, the places of the ops that read it so."""

    def executed(self, kind: str, inputs: Any, outputs: Any, place: int) -> None:
        """An op was executed, or put into a graph."""
        for one in outputs:
            self._made[ident(one)] = place
        for position, one in enumerate(inputs):
            found = self._read.setdefault((kind, position, ident(one)), [])
            if place not in found:
                found.append(place)

    def place(self, kind: str, inputs: Any, outputs: Any) -> int:
        """Of the op whose gradient is asked for; what a gradient does not need is not there any more. 0: not known."""
        for one in outputs or ():
            if one is not None and ident(one) in self._made:
                return self._made[ident(one)]
        several: list[int] | None = None
        for position, one in enumerate(inputs or ()):
            found = self._read.get((kind, position, ident(one))) if one is not None else None
            if found is not None:
                several = found if several is None else [place for place in several if place in found] or several
        return several[-1] if several else 0


def install(importing: Importing, recorder: Recorder, wrapping: Wrapping) -> None:
    """Teaches the places of the recording to look behind both."""
    recorder.places.translate(partial(_translated, recorder.places))
    for module, kind in _LAYERS:
        importing.after(module, partial(_layers, recorder, wrapping, kind))


def _translated(places: Any, name: str, line: int) -> Any:
    """The user's line that generated code stands for, by TensorFlow's own table."""
    module = sys.modules.get(_STACKS)
    if module is None:
        return None
    table = module._source_mapper_stacks[module._get_thread_key()][-1].get_effective_source_map()
    path, number, function = table.get((name, line), ("", 0, ""))
    path = places.path(path) if path else ""
    return (path, number, function) if path else None


def _layers(recorder: Recorder, wrapping: Wrapping, name: str, module: Any) -> None:
    """A layer's own ops are where the user made it, unless his code stands between."""
    kind, made = getattr(module, name, None), weakref.WeakKeyDictionary()  # type: Any, Any
    if kind is None:
        return

    def building(real: Any) -> Any:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            if self not in made:
                made[self] = recorder.places.here(2)
            real(self, *args, **kwargs)

        return __init__

    def calling(real: Any) -> Any:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            return real(self, *args, **kwargs)

        recorder.places.stands(__call__.__code__, lambda frame: made.get(frame.f_locals["self"]))
        return __call__

    wrapping.replace(kind, "__init__", building)
    wrapping.replace(kind, "__call__", calling)
