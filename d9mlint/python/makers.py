"""From a value to the calls that made it, and from a layer to where it is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from d9mlint.python.story import Event
from d9mlint.python.values import Obj, Value, alternatives


def made_of(value: Value | None, makers: Mapping[int, Event]) -> Iterator[Event]:
    """The calls that made a value; ``makers`` are the calls of the program by the ``id`` of their result."""
    for _, leaf in alternatives(value):
        made = leaf.event if isinstance(leaf, Obj) else None
        made = made if made is not None else makers.get(id(leaf))
        if made is not None:
            yield made


def calls_of(layer: Event, makers: Mapping[int, Event]) -> Iterator[Event]:
    """The calls of what a call made."""
    for event in makers.values():
        if event.name == f"{layer.name}().__call__" and any(made is layer for made in made_of(event.receiver, makers)):
            yield event
