"""Classes that a module exports for what C++ calls on their objects: ``py::class_<GPULists, Lists>(m, "GPULists")``.

Python makes the object and hands it to others, which call its virtual methods: the class is what the user meets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.kernels.judging.declarations import parameter_place
from d9mlint.kernels.source import lexical
from d9mlint.kernels.torch.bindings import Binding, holders
from d9mlint.kernels.torch.blocks import Block
from d9mlint.kernels.torch.callers import Callers
from d9mlint.kernels.torch.calls import virtual

_OPENING = re.compile(rb"\bclass_\s*<\s*(?:\w+\s*::\s*)*\Z")
"""Before the class that is exported, which its bases follow."""
_NAMED = re.compile(rb'[^;{}()]{0,500}?>\s*(?:\w+\s*)?\(\s*(\w+)\s*,\s*(?:"(\w+)"|(\w+))')
_CALL = re.compile(rb"\s*(?:<[^;{}()]{0,300}>\s*)?\(")
_STRING = re.compile(rb'\s*"(\w+)"\s*\Z')
_MAX_BEFORE = 200


def exported(callers: Callers, method: Block, other: Block, place: int) -> Iterator[tuple[Block, Binding]]:
    """The exports of the class of a method that a place names, each with the block that a library calls for it.

    Only of a method that others call on the object: it is virtual, and is not registered itself. Constructors are
    called by Python.
    """
    data = other.unit.data
    opening = _OPENING.search(data, max(0, place - _MAX_BEFORE), place) if method.scope else None
    named = _NAMED.match(data, place) if opening is not None else None
    if named is None or other.is_parameter(method.scope.encode()) or not _run_by_others(callers, method, other):
        return
    holder = holders(other).get(named[1])
    within = holder.within if holder is not None else ""
    if named[2] is not None:
        yield other, Binding(named[2].decode(), place, named.end(), other, within)
        return
    for caller, name, at in _given(callers, other, named[3].decode()):
        yield caller, Binding(name, at, at + 1, caller, within)


def _run_by_others(callers: Callers, method: Block, other: Block) -> bool:
    if method.name == method.scope:
        return True
    return method.name.encode() not in other.words and bool(virtual.bases(method, callers.repository))


def _given(callers: Callers, registering: Block, name: str) -> Iterator[tuple[Block, str, int]]:
    """The strings that the callers of a registering function give for one of its parameters, and where."""
    function = registering.function
    index = parameter_place(function.node, name, registering.unit) if function is not None else -1
    for caller, places in callers.callers(registering) if index >= 0 else ():
        for place in places:
            opening = _CALL.match(caller.unit.data, place + len(registering.name))
            listed = lexical.arguments(caller.unit.data, opening.end() - 1) if opening is not None else None
            given = listed[0] if listed is not None else []
            text = _STRING.match(caller.unit.data[slice(*given[index])]) if index < len(given) else None
            if text is not None:
                yield caller, text[1].decode(), place
