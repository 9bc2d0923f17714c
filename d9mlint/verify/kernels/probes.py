"""Which probe stands for which kind of site: the same operation in a kernel of our own, known to compile."""

from __future__ import annotations

from pathlib import Path

from d9mlint.model import Site

PROBES = Path(__file__).parent.parent / "probes" / "probes.yaml"
_EXACT = {
    "atomicAdd": "integer-add", "atomicSub": "integer-add", "atomicInc": "integer-add", "atomicDec": "integer-add",
    "atomicMin": "max-min", "atomicMax": "max-min",
    "atomicCAS": "cas-integer-add", "atomicAnd": "bitwise", "atomicOr": "bitwise", "atomicXor": "bitwise",
}  # fmt: skip
_INDEPENDENT = frozenset((*_EXACT.values(), "cas-max", "ticket"))
"""Probes whose result is the same in any order."""
_LOOPS = {"add": "cas-add", "sub": "cas-add", "max": "cas-max", "min": "cas-max"}


def probe_of(site: Site) -> str:
    """The name of the probe that runs what the site does; empty where none does.

    A site that cannot vary although others of its kind do (one thread owns the cell) has none: its kind says nothing.
    """
    found = _of_kind(site)
    return "" if site.verdict == "no" and found not in _INDEPENDENT else found


def _of_kind(site: Site) -> str:
    if site.class_ == "float-accumulate":
        return "double-accumulate" if "double" in site.target_type and "float" not in site.target_type else (
            "float-accumulate"
        )  # fmt: skip
    if site.class_ == "cas-loop":
        return _LOOPS.get(site.implements, "")
    if site.class_ == "commutative-exact":
        return _EXACT.get(site.intrinsic, "")
    if site.class_ == "order-dependent":
        return _ordered(site)
    return ""


def _ordered(site: Site) -> str:
    if site.return_use == "ticket":
        return "lock" if site.intrinsic == "atomicCAS" else "ticket"
    if site.intrinsic == "atomicExch":
        return "exchange"
    if site.intrinsic == "atomicCAS":
        return "first-wins"
    return "slot-allocation" if site.return_use in ("index", "value") else ""
