"""A report about a build, made short for people: equal instructions of one kernel's instances become one site."""

from __future__ import annotations

from collections.abc import Iterable

from d9mlint.model import KernelOp, KernelReport, Site
from d9mlint.report.words import count


def grouped(report: KernelReport) -> KernelReport:
    """One site for each kernel (whatever its template arguments), kind of instruction and verdict; its first place."""
    together: dict[tuple[str, ...], list[Site]] = {}
    for site in report.scan.sites:
        key = (
            _plain(site.function), site.form, site.atomic, site.memory, site.class_, site.implements, site.verdict,
            site.reason, site.guard.level, *site.ops,
        )  # fmt: skip
        together.setdefault(key, []).append(site)
    first = {same[0].location: _one(same) for same in together.values()}
    scan = report.scan
    sites = tuple(first[site.location] for site in scan.sites if site.location in first)
    ops = tuple(_op(op, first.keys()) for op in scan.ops)
    return report._replace(scan=scan._replace(sites=sites, ops=ops))


def _op(op: KernelOp, kept: Iterable[object]) -> KernelOp:
    places = set(kept)
    return op._replace(sites=tuple(at for at in op.sites if at in places))


def _one(same: list[Site]) -> Site:
    kernels = len({site.function for site in same})
    number = f" ({count(len(same), 'instruction')} in {count(kernels, 'kernel')})" if len(same) > 1 else ""
    return same[0]._replace(function=_plain(same[0].function), reason=same[0].reason + number)


def _plain(function: str) -> str:
    """The name without template arguments."""
    kept, depth = [], 0
    for letter in function:
        depth += (letter == "<") - (letter == ">")
        if depth == 0 and letter != ">":
            kept.append(letter)
    return "".join(kept) or function
