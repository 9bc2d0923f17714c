"""Which rule a site belongs to: each site that can vary has exactly one."""

from __future__ import annotations

from d9mlint.model import KernelScan, Location, Site

UNKNOWN = "unknown"
"""The class of a site whose type, or what becomes of its old value, is not seen."""
_ROUNDS = ("add", "sub", "mul", "div")
"""What a CAS loop computes when the order of its steps changes the rounding."""


def accumulates(site: Site) -> bool:
    """Whether floating-point numbers are combined in the order in which threads arrive."""
    return site.class_ == "float-accumulate" or (site.class_ == "cas-loop" and site.implements in _ROUNDS)


def unlaunched(scan: KernelScan) -> frozenset[Location]:
    """The places in kernels that nothing is seen to launch, in files of which an extension exports others.

    Their launcher is left over: for those that are launched, the ways up were found. (Of PyTorch's own sources some
    ways go through tables that are filled elsewhere.)
    """
    ops = (op for op in scan.ops if op.framework == "torch" and not op.name.startswith(_OWN))
    files = {at.path for op in ops for at in op.sites}
    sites = (site for site in scan.sites if not site.ops and "__global__" in site.qualifier)
    return frozenset(site.location for site in sites if site.location.path in files)


_OWN = "aten::"
