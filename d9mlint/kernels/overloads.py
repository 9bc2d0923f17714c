"""Ops of overloads that a project adds to CUDA's atomics: `atomicAdd(half*, half)` is called where halves are added.

The ways from such a body go by its name, which calls of CUDA's own function bear, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from d9mlint.kernels.flow import Way
from d9mlint.kernels.judging.judge import Judgement
from d9mlint.kernels.judging.known.scalars import short
from d9mlint.kernels.judging.settled import target_types
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.sites.names import INTRINSICS
from d9mlint.model import Location

_SAME = {"float16": "half", "float16_t": "half", "nv_half": "half", "nv_bfloat16": "bfloat16", "float32": "float"}
_MAX_LEVELS = 4
"""Wrappers in overloads."""


def of_their_types(atomics: Sequence[Atomic], judgements: Sequence[Judgement], ways: Iterable[Way]) -> list[Way]:
    """The ways without those of an overload's body to ops that only call the function for other types."""
    listed = list(ways)
    types = {a.location: _types(j) for a, j in zip(atomics, judgements, strict=True)}
    bodies = {a.location: a.function.name for a in atomics if a.function is not None and a.function.name in INTRINSICS}
    bodies = {place: name for place, name in bodies.items() if types[place]}
    if not bodies:
        return listed
    met: dict[Location, set[str]] = {}
    for way in listed:
        met.setdefault(way.site, set()).add(way.op)
    calls: dict[str, list[Location]] = {}
    for atomic in atomics:
        if atomic.location not in bodies:
            calls.setdefault(atomic.name, []).append(atomic.location)
    allowed: dict[Location, set[str]] = {}
    for place, name in bodies.items():
        meant = (at for at in calls.get(name, ()) if not types[at] or types[at] & types[place])
        allowed[place] = {op for at in meant for op in met.get(at, ())}
    _hand_down(allowed, atomics)
    return [way for way in listed if way.site not in allowed or way.op in allowed[way.site]]


def _hand_down(allowed: dict[Location, set[str]], atomics: Iterable[Atomic]) -> None:
    """Adds what such bodies call: wrappers that nothing else uses."""
    users: dict[Location, list[Location]] = {}
    for atomic in atomics:
        for place in dict.fromkeys(one.location for one in atomic.inner):
            users.setdefault(place, []).append(atomic.location)
    for _ in range(_MAX_LEVELS):
        fresh = {p: us for p, us in users.items() if p not in allowed and all(user in allowed for user in us)}
        if not fresh:
            return
        allowed |= {place: set().union(*(allowed[user] for user in us)) for place, us in fresh.items()}


def _types(judged: Judgement) -> frozenset[str]:
    names = (short(name).lower().strip("_") for name in target_types(judged))
    return frozenset(_SAME.get(name, name) for name in names)
