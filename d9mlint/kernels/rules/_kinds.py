"""Which rule a site belongs to: each site that can vary has exactly one."""

from __future__ import annotations

from d9mlint.model import Site

UNKNOWN = "unknown"
"""The class of a site whose type, or what becomes of its old value, is not seen."""
_ROUNDS = ("add", "sub", "mul", "div")
"""What a CAS loop computes when the order of its steps changes the rounding."""


def accumulates(site: Site) -> bool:
    """Whether floating-point numbers are combined in the order in which threads arrive."""
    return site.class_ == "float-accumulate" or (site.class_ == "cas-loop" and site.implements in _ROUNDS)
