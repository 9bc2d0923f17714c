"""What the rules of the family ``kernels`` find in a scan."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from functools import partial

from d9mlint.model import KERNELS, Finding, KernelScan, Rule

Check = Callable[[KernelScan], Iterable[Finding]]


def checks(rules: Iterable[Rule]) -> list[Check]:
    """What judges a scan for those of ``rules`` that are about kernels: each has a module of its name."""
    found: list[Check] = []
    for rule in rules:
        if rule.family == KERNELS:
            module = importlib.import_module(f"d9mlint.kernels.rules.{rule.name.replace('-', '_')}")
            found.append(partial(module.check_scan, rule=rule))
    return found


def findings(scan: KernelScan, judges: Iterable[Check]) -> list[Finding]:
    """The findings of some checks, sorted."""
    return sorted((one for judge in judges for one in judge(scan)), key=lambda one: one.sort_key)
