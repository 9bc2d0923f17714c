"""cublas-workspace: a cuBLAS handle whose results are the same only as long as one stream uses it."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.kernels.rules._drafts import finding
from d9mlint.model import Finding, KernelScan, Rule


def check_scan(scan: KernelScan, rule: Rule) -> Iterator[Finding]:
    """The handles made in sources that never set a workspace."""
    for call in scan.library_calls:
        if call.rule == rule.name:
            yield finding(scan, rule, call)
