"""unjudged-atomic: what an atomic does to the result cannot be told from the source."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.kernels.rules._drafts import finding
from d9mlint.model import Finding, KernelScan, Rule


def check_scan(scan: KernelScan, rule: Rule) -> Iterator[Finding]:
    """The sites whose verdict is unknown."""
    for site in scan.sites:
        if site.verdict == "unknown":
            yield finding(scan, rule, site)
