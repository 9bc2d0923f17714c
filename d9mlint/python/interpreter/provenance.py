"""From a value to the calls that made it, and from a layer to where it is called."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import UNKNOWN, Obj, Seq, Value, alternatives
from d9mlint.python.interpreter.program import Program

_CALL = "().__call__"


class Makers(dict[int, Event]):
    """The calls of a program by the ``id`` of their result."""

    @cached_property
    def by_name(self) -> dict[str, list[Event]]:
        """The same by their names, in order."""
        found: dict[str, list[Event]] = {}
        for event in self.values():
            found.setdefault(event.name, []).append(event)
        return found

    @cached_property
    def calls(self) -> dict[int, list[Event]]:
        """The calls of what other calls made, by the ``id`` of those."""
        found: dict[int, list[Event]] = {}
        for event in self.values():
            if event.name.endswith(_CALL):
                for layer in {id(made) for made in made_of(event.receiver, self)}:
                    found.setdefault(layer, []).append(event)
        return found


def results(program: Program) -> Makers:
    """The calls of a program by the ``id`` of their result."""
    return program.once("results", _results)


def _results(program: Program) -> Makers:
    made = (e for e in program.events if e.kind == "call" and e.result is not None and e.result is not UNKNOWN)
    return Makers((id(e.result), e) for e in made)


def made_of(value: Value | None, makers: Makers) -> Iterator[Event]:
    """The calls that made a value; ``makers`` are the calls of the program by the ``id`` of their result."""
    for _, leaf in alternatives(value):
        made = leaf.event if isinstance(leaf, Obj) else None
        made = made if made is not None else makers.get(id(leaf))
        if made is not None:
            yield made


def calls_of(layer: Event, makers: Makers) -> Iterator[Event]:
    """The calls of what a call made."""
    name = f"{layer.name}{_CALL}"
    return (event for event in makers.calls.get(id(layer), ()) if event.name == name)


def made_by(value: Value | None) -> Iterator[Event]:
    """The calls that made an object, or the objects in a list."""
    for _, leaf in alternatives(value):
        if isinstance(leaf, Obj) and leaf.event is not None:
            yield leaf.event
        elif isinstance(leaf, Seq) and leaf.items is not None:
            for item in leaf.items:
                yield from (e for _, one in alternatives(item) if isinstance(one, Obj) and (e := one.event) is not None)
