"""What the rules of the family ``kernels`` find in a scan."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from d9mlint.model import KERNELS, Finding, KernelScan, Rule


def findings(scan: KernelScan, rules: Iterable[Rule]) -> list[Finding]:
    """The findings of those of ``rules`` that are about kernels, sorted; each is judged by the module of its name."""
    found: list[Finding] = []
    for rule in rules:
        if rule.family == KERNELS:
            module = importlib.import_module(f"d9mlint.kernels.rules.{rule.name.replace('-', '_')}")
            found.extend(module.check_scan(scan, rule))
    return sorted(found, key=lambda one: one.sort_key)
