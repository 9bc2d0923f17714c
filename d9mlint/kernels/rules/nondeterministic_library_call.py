"""nondeterministic-library-call: a routine or algorithm whose vendor documents that results vary."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.kernels.rules._drafts import finding
from d9mlint.model import Finding, KernelScan, Rule


def check_scan(scan: KernelScan, rule: Rule) -> Iterator[Finding]:
    """The calls of this rule; what is only listed or compared (``depends``) is none, what is not known is ``info``."""
    for call in scan.library_calls:
        if call.rule == rule.name and call.verdict in ("yes", "conditional", "unknown"):
            yield finding(scan, rule, call, severity="info" if call.verdict == "unknown" else "")
