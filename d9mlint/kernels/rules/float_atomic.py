"""float-atomic: floating-point numbers are added in whatever order the threads arrive."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.kernels.rules._drafts import finding
from d9mlint.kernels.rules._kinds import accumulates, unlaunched
from d9mlint.model import Finding, KernelScan, Rule


def check_scan(scan: KernelScan, rule: Rule) -> Iterator[Finding]:
    """The sites that accumulate and can vary."""
    left = unlaunched(scan)
    for site in scan.sites:
        if site.can_vary and accumulates(site):
            yield finding(scan, rule, site, confidence="low" if site.location in left else "")
