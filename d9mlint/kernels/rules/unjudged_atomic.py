"""unjudged-atomic: what an atomic does to the result cannot be told from the source."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.kernels.rules._drafts import finding
from d9mlint.kernels.rules._kinds import UNKNOWN
from d9mlint.model import Finding, KernelScan, Rule


def check_scan(scan: KernelScan, rule: Rule) -> Iterator[Finding]:
    """The sites whose verdict is unknown, and those that vary if their target is a float, which is not seen."""
    for site in scan.sites:
        if site.verdict == "unknown" or (site.can_vary and site.class_ == UNKNOWN):
            yield finding(scan, rule, site)
