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
    "throws": "use another op where results must repeat: with {mode} this one stops the program instead of varying",
    "other-path": "switch on {mode}: the op then takes another way",
    "none": "sum in a fixed order in the kernel, or guard it; no mode changes what it does now",
}
_MODE_NAMES = {"torch": "`torch.use_deterministic_algorithms(True)`", "tensorflow": "deterministic ops"}


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
    framework = op.framework or "torch"
    remedy = _REMEDIES[op.guard.level].format(mode=_MODE_NAMES.get(framework, "deterministic mode"))
    if op.guard.switch:
        remedy = f"set `{op.guard.switch}`: the op then takes another way"
    status = OpStatus("", "varies", _MODES[op.guard.level], remedy)
    return Op(
        name=op.name,
        calls=tuple(name for name in op.python if _DOTTED.fullmatch(name)),
        direction=op.direction,
        devices=("gpu",),
        status=(status,),
        sources=places,
        why=" ".join(dict.fromkeys(f"{s.reason.rstrip('.')}." for s in sites[:_MOST])),
        framework=framework,
        sites=places,
    )
