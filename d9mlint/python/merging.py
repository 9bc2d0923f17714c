"""The findings of several entries, put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from d9mlint.model import CONFIDENCES, Finding, Location


def combine(findings: Iterable[Finding]) -> list[Finding]:
    """Merges the findings of several entries: one per place and text, with all its entries, sorted."""
    groups: dict[tuple[str, Location, str], Finding] = {}
    for found in findings:
        key = (found.rule, found.location, found.message)
        known = groups.get(key)
        if known is None:
            groups[key] = found
            continue
        when = tuple(w for w in known.when if w in found.when)
        best = max(known, found, key=lambda x: CONFIDENCES.index(x.confidence))
        groups[key] = replace(best, when=when, entries=tuple(sorted({*known.entries, *found.entries})))
    return sorted(groups.values(), key=lambda x: x.sort_key)
