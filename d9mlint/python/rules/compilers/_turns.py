"""Turns of a loop of TensorFlow that wait for each other: the condition reads what the last turn has computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Bound, Func, Value, alternatives
from d9mlint.python.source import facts as f

_CONDITION, _BODY = Argument(0, "cond"), Argument(1, "body")
_MOST = 1_000
"""Parts of a body that are looked through."""


def awaited(loop: Event, event: Event) -> bool:
    """Whether a call in the body of a loop has to end before the next turn begins.

    The condition of that turn reads a variable of the loop, and what the body gives for it is computed from the call.
    """
    condition, body = _function(loop.argument(_CONDITION)), _function(loop.argument(_BODY))
    if condition is None or body is None:
        return False
    places = {tuple(one[1:5]) for one in (event.location, *event.stack) if one.path == body.closure.module.path}
    read = _read(condition.node)
    return any(_computed(one, body.node, places) for given in _given(body.node) for one in _picked(given, read))


def _function(value: Value | None) -> Func | None:
    leaves = [leaf.func if isinstance(leaf, Bound) else leaf for _, leaf in alternatives(value)]
    return leaves[0] if len(leaves) == 1 and isinstance(leaves[0], Func) else None


def _read(condition: f.Def | f.Lambda) -> set[int]:
    """The numbers of the variables of the loop that its condition reads."""
    names = {one.id for one in _parts(condition.body) if isinstance(one, f.Name)}
    plain = [one for one in condition.params if one.name != "self"]
    return {number for number, one in enumerate(plain) if one.kind == "pos" and one.name in names}


def _given(body: f.Def | f.Lambda) -> list[Any]:
    """What the body gives, at each place where it does."""
    if isinstance(body, f.Lambda):
        return [body.body]
    return [one.value for one in _parts(body.body) if isinstance(one, f.Return) and one.value is not None]


def _picked(given: Any, read: set[int]) -> Iterator[Any]:
    """What is given for these variables; all of it where it is not written as a tuple or list."""
    if not isinstance(given, f.Items):
        yield given
        return
    yield from (one for number, one in enumerate(given.items) if number in read)


def _computed(wanted: Any, body: f.Def | f.Lambda, places: set[tuple[int, ...]]) -> bool:
    """Whether a value is computed from the call at one of these places, through the names that the body gives."""
    todo, seen = [wanted], set[str]()
    while todo:
        for one in _parts(todo.pop()):
            if isinstance(one, f.Call) and tuple(one.place) in places:
                return True
            if isinstance(one, f.Name) and one.id not in seen:
                seen.add(one.id)
                todo += _assigned(body, one.id)
    return False


def _assigned(body: f.Def | f.Lambda, name: str) -> Iterator[Any]:
    """What a name of the body is given there."""
    for one in _parts(body.body) if isinstance(body, f.Def) else ():
        targets = one.targets if isinstance(one, f.Assign) else (one.target,) if isinstance(one, f.Augment) else ()
        if any(isinstance(part, f.Name) and part.id == name for target in targets for part in _parts(target)):
            yield one.value


def _parts(root: Any) -> Iterator[Any]:
    """A fact and all in it, but not what nested functions hold: they run where they are called."""
    todo, left = [root], _MOST
    while todo and left:
        left -= 1
        one = todo.pop()
        yield one
        if isinstance(one, (f.Def, f.Class)) or not isinstance(one, tuple):
            continue
        todo += [part for part in one if isinstance(part, tuple)]
