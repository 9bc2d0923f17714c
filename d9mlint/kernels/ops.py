"""The user's own ops, in the words of the op catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterable

from d9mlint.model import KernelOp, KernelScan, Location, Op, OpStatus, Site

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)
_MODES = {"throws": "raises", "other-path": "same", "none": "varies"}
"""What deterministic mode makes of an op, by its guard."""
_MOST = 3
_REMEDIES = {
    "throws": "keep deterministic mode on: the op then stops the program instead of varying; use another op",
    "other-path": "switch deterministic mode on: the op then takes another way",
    "none": "sum in a fixed order in the kernel, or guard it; no mode changes what it does now",
}


def own_ops(scan: KernelScan, silenced: Iterable[Location] = ()) -> list[Op]:
    """The ops that reach a site which can vary (and that nobody has silenced), by name; places are relative paths."""
    out = frozenset(silenced)
    sites = {s.location: s for s in scan.sites if s.can_vary and s.location not in out}
    found = []
    for op in scan.ops:
        reached = [sites[place] for place in op.sites if place in sites]
        if reached:
            found.append(_op(op, reached))
    return found


def _op(op: KernelOp, sites: list[Site]) -> Op:
    places = tuple(dict.fromkeys(f"{s.location.path}:{s.location.line}" for s in sites))
    status = OpStatus("", "varies", _MODES[op.guard.level], _REMEDIES[op.guard.level])
    return Op(
        name=op.name,
        calls=tuple(name for name in op.python if _DOTTED.fullmatch(name)),
        direction=op.direction,
        devices=("gpu",),
        status=(status,),
        sources=places,
        why=" ".join(dict.fromkeys(f"{s.reason.rstrip('.')}." for s in sites[:_MOST])),
        framework=op.framework or "torch",
        sites=places,
    )
