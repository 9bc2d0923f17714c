"""From sites to the ops a user meets them in: what the ways through TensorFlow and PyTorch sources share."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable
from typing import NamedTuple

from d9mlint.model import Location
from d9mlint.model.kernel import GUARD_LEVELS, Guard, KernelOp, Step

MAX_PORTIONS = 128
"""So many are even work for several processes."""


class Anchor(NamedTuple):
    """Where a way starts: a site, the function around it and its class (empty in a macro's body).

    ``inner`` are, where the site calls a wrapper, the places of the atomics in the bodies that bear its name: a functor
    that is specialised by an enumerator leads only to the ops with one of these.
    """

    location: Location
    name: str = ""
    scope: str = ""
    inner: tuple[Location, ...] = ()


class Way(NamedTuple):
    """One way from one site to one op.

    ``guard`` is the weakest among all the ways from this site to this op, ``chain`` a shortest way with that guard.
    """

    op: str
    framework: str
    python: tuple[str, ...]
    direction: str
    gradient_of: tuple[str, ...]
    site: Location
    guard: Guard
    chain: tuple[Step, ...]
    only: str = ""
    """The one exact operation (``max``, ``min``) that the way asks of a kernel which has several; empty for any."""


def portions(anchors: Iterable[Anchor]) -> list[list[Anchor]]:
    """The anchors, sorted, in at most ``MAX_PORTIONS`` lists: those of a function are together, neighbours mostly."""
    ordered = sorted(anchors, key=lambda a: a.location)
    groups = [list(group) for _, group in itertools.groupby(ordered, key=lambda a: (a.location.path, a.name, a.scope))]
    count = min(len(groups), MAX_PORTIONS)
    bounds = [len(groups) * number // count for number in range(count + 1)] if count else []
    return [list(itertools.chain.from_iterable(groups[first:end])) for first, end in itertools.pairwise(bounds)]


def weakest(guards: Iterable[Guard]) -> Guard:
    """What protects all of several alternatives: the one that protects least; no guard where there is none."""
    return min(guards, key=_strength, default=Guard())


def strongest(guards: Iterable[Guard]) -> Guard:
    """What protects a way on which all of these stand: the one that protects most, the first among equals."""
    return max(guards, key=lambda g: (GUARD_LEVELS.index(g.level), bool(g.switch)), default=Guard())


def _strength(guard: Guard) -> tuple[int, bool, Location]:
    return GUARD_LEVELS.index(guard.level), bool(guard.switch), guard.where or Location("", 0, 0, 0, 0)


def ops_of(ways: Iterable[Way], varying: Container[Location] = ()) -> list[KernelOp]:
    """The ops that ways lead to, by name: each with all its sites and the weakest guard.

    The chain is that of the first site with this guard. Of an op with ``varying`` sites only these count for both: what
    stands before an exact kernel (of integers, say) is no matter.
    """
    grouped: dict[tuple[str, str], list[Way]] = {}
    for way in ways:
        grouped.setdefault((way.op, way.framework), []).append(way)
    ops = []
    for (name, framework), group in sorted(grouped.items()):
        counting = [w for w in group if w.site in varying] or group
        guard = weakest(w.guard for w in counting)
        shown = min((w for w in counting if w.guard.level == guard.level), key=_roundabout)
        sites = tuple(sorted({w.site for w in group}))
        chains = {w.site: w.chain for w in sorted(group, key=_roundabout, reverse=True)}
        ops.append(
            KernelOp(
                name, framework, shown.python, shown.direction, shown.gradient_of, sites, guard, shown.chain,
                tuple(sorted(chains.items())),
            )
        )  # fmt: skip
    return ops


def _roundabout(way: Way) -> tuple[Location, int, tuple[Step, ...]]:
    return way.site, len(way.chain), way.chain


def location_in(path: str, data: bytes, start: int, end: int) -> Location:
    """The place of a range of bytes in a file that needs no tree; columns count characters."""
    return Location(path, *_position(data, start), *_position(data, end))


def _position(data: bytes, at: int) -> tuple[int, int]:
    start = data.rfind(b"\n", 0, at) + 1
    return data.count(b"\n", 0, at) + 1, len(data[start:at].decode("utf-8", "replace")) + 1
