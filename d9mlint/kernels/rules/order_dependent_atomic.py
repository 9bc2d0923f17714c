"""order-dependent-atomic: which thread comes first decides what is written, or where."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.kernels.rules._drafts import finding
from d9mlint.kernels.rules._kinds import UNKNOWN, accumulates, unlaunched
from d9mlint.model import Finding, KernelScan, Rule


def check_scan(scan: KernelScan, rule: Rule) -> Iterator[Finding]:
    """The other sites that can vary."""
    left = unlaunched(scan)
    for site in scan.sites:
        if site.can_vary and not accumulates(site) and site.class_ != UNKNOWN:
            yield finding(scan, rule, site, confidence="low" if site.location in left else "")
