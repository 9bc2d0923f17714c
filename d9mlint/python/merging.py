"""The findings of several entries, put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from d9mlint.model import CONFIDENCES, Finding, Location


def combine(findings: Iterable[Finding]) -> list[Finding]:
    """Merges the findings of several entries: one per place and text, with all its entries, sorted."""
    groups: dict[tuple[str, Location, str], list[Finding]] = {}
    for found in findings:
        groups.setdefault((found.rule, found.location, found.message), []).append(found)
    return sorted((_merged(group) for group in groups.values()), key=lambda x: x.sort_key)


def _merged(group: list[Finding]) -> Finding:
    """The surest of several; it holds under what the equally sure ones have in common.

    (An entry that was not seen to call the place is less sure, and knows nothing of the conditions there.)
    """
    surest = max(CONFIDENCES.index(found.confidence) for found in group)
    sure = [found for found in group if CONFIDENCES.index(found.confidence) == surest]
    when = tuple(word for word in sure[0].when if all(word in found.when for found in sure))
    entries = tuple(sorted({entry for found in group for entry in found.entries}))
    ops = tuple(dict.fromkeys(op for found in sure for op in found.ops))
    return replace(sure[0], when=when, entries=entries, ops=ops)
