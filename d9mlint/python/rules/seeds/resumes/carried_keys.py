"""Keys of JAX that a training loop splits again and again, from a seed that is the same in each start."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Dict, FlagValue, Obj, Seq, Value, alternatives
from d9mlint.python.frameworks.jax.calls import KEY
from d9mlint.python.interpreter.program import Program

_SPLIT, _SEEDED = "jax.random.split", ("jax.random.PRNGKey", "jax.random.key")
_KEY, _SEED = Argument(0, "key"), Argument(0, "seed")
_NAMED = re.compile(r"(.*_)?(prng|rng|key|random)(_?(key|state|seq))?s?", re.IGNORECASE)
_STATES = re.compile(r".*(State|create|replace)")
"""Names of what makes a state, or one with something else in it."""
_MOST_SPLITS = 8
"""How often a key may have been split before the loop."""


def split_on(program: Program, load: Event, loops: Set[int]) -> Event | None:
    """The call that splits a key in a training that goes on from ``load``; None where the key may be restored, too."""
    if program.once("keys-in-states", _keys_in_states):
        return None
    kept = program.once("kept-keys", _kept)
    for event in program.calls(_SPLIT):
        number = next((one for one in event.loops if one in loops and one not in load.loops), None)
        if number is None or event.detached or event.index < load.index or not event.meets(load):
            continue
        found = [leaf for _, leaf in alternatives(event.argument(_KEY))]
        if found and all((id(leaf), number) not in kept and _is_from_start(leaf, number) for leaf in found):
            return event
    return None


def _kept(program: Program) -> frozenset[tuple[int, int]]:
    """The ``id`` of each key that is the same in each turn of a loop, and the loop."""
    return frozenset((id(key), e.loops[-1]) for e in program.events if e.kind == "kept" and e.loops for key in e.args)


def _is_from_start(leaf: Value, number: int) -> bool:
    """Whether a key was made before a loop, from a seed that no restored number is part of."""
    for _ in range(_MOST_SPLITS):
        if not isinstance(leaf, Obj) or leaf.type != KEY or leaf.event is None or number in leaf.event.loops:
            return False
        if leaf.event.name in _SEEDED:
            return all(isinstance(one, (Const, FlagValue)) for _, one in alternatives(leaf.event.argument(_SEED)))
        before = [one for _, one in alternatives(leaf.event.argument(_KEY))]
        if leaf.event.name != _SPLIT or len(before) != 1:
            return False
        leaf = before[0]
    return False


def _keys_in_states(program: Program) -> bool:
    """Whether a key is, or may be, part of what a program saves or of a state that it makes."""
    for event in program.events:
        if event.kind != "call":
            continue
        if _STATES.fullmatch(event.name) and any(_NAMED.fullmatch(name) for name in event.kwargs):
            return True
        if event.name.endswith((".save", ".dump", "save_checkpoint", "StandardSave", "PyTreeSave", "restore")):
            given = [*event.args, *event.kwargs.values()]
            if any(_is_key(leaf) or _names_key(leaf) for value in given for leaf in _parts(value)):
                return True
    return False


def _is_key(leaf: Value) -> bool:
    return isinstance(leaf, Obj) and leaf.type == KEY


def _names_key(leaf: Value) -> bool:
    return isinstance(leaf, Dict) and any(_NAMED.fullmatch(str(key)) for key in leaf.items)


def _parts(value: Value) -> Iterator[Value]:
    """What a value may be, and what is in it."""
    for _, leaf in alternatives(value):
        yield leaf
        inner = list(leaf.items.values()) if isinstance(leaf, Dict) else leaf.items if isinstance(leaf, Seq) else ()
        yield from (one for item in inner or () for _, one in alternatives(item))
