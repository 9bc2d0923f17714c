"""The report about kernel sources for people: kernel by kernel; all of it op by op, then site by site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from d9mlint.model import KernelOp, KernelReport, LibraryCall, Location, Site
from d9mlint.report.excerpt import source_lines
from d9mlint.report.kernels.grouped import blocks
from d9mlint.report.kernels.opening import opening
from d9mlint.report.kernels.words import MOST, VERDICT_WORDS, guard, guarded, headline, op_title, skipped, tally
from d9mlint.report.lines import NARROWEST, Line, hanging, item, joined, labelled, place
from d9mlint.report.words import count, listing, one_line, printable

_SHOWN = ("yes", "conditional", "unknown")
"""Verdicts shown unless everything is asked for."""


def render(report: KernelReport, *, everything: bool = False, color: bool = False, width: int = 100) -> str:
    """The whole report; without ``everything`` kernels in few lines each.

    Sites that cannot vary, and wrappers and macros, are only counted there.
    """
    width = max(width, NARROWEST)
    scan = report.scan
    sites = [s for s in scan.sites if everything or (s.verdict in _SHOWN and not s.by_uses)]
    calls = [c for c in scan.library_calls if everything or c.verdict in _SHOWN]
    shown = {s.location for s in sites} | {c.location for c in calls}
    ops = [op for op in scan.ops if any(location in shown for location in op.sites)]
    listed = (
        [*_ops(ops, {s.location: s for s in sites}, width), *_files(report, sites, calls, width)]
        if everything
        else blocks(report, [*sites, *calls], width)
    )
    lines = [
        *listed,
        *_others(report, width),
        *_summary(report, len(scan.sites) - len(sites), width),
    ]
    return joined(lines, color=color)


def _ops(ops: Iterable[KernelOp], sites: dict[Location, Site], width: int) -> Iterator[Line]:
    for op in ops:
        about = op_title(op)
        yield (("op ", ""), (printable(op.name), "bold"), (f" ({one_line(about)})" if about else "", ""))
        yield from labelled("python", listing(op.python, MOST) or "no way found", width, indent=10)
        yield from labelled("guard", guard(op.guard), width, indent=10)
        seen = [f"{place(at)} {_atomic(sites[at])}" for at in op.sites if at in sites]
        yield from _listed("site", seen, width)
        yield from _listed("way", [f"{place(step.location)}: {one_line(step.text)}" for step in op.chain], width)
        yield ()


def _atomic(site: Site) -> str:
    return f"`{one_line(site.atomic)}` {VERDICT_WORDS[site.verdict]}"


def _listed(label: str, entries: Iterable[str], width: int) -> Iterator[Line]:
    for number, entry in enumerate(entries):
        for line in labelled(label, entry, width, indent=10):
            yield ((" " * 10, ""), *line[1:]) if number else line


def _files(report: KernelReport, sites: list[Site], calls: list[LibraryCall], width: int) -> Iterator[Line]:
    entries: list[Site | LibraryCall] = [*sites, *calls]
    entries.sort(key=lambda one: (one.location, isinstance(one, LibraryCall)))
    for path, found in groupby(entries, key=lambda one: one.location.path):
        lines = source_lines(report.scan.sources.get(path, ""))
        for one in found:
            yield from _site(one, one.location in report.silenced, lines, width)
            yield ()


def _site(one: Site | LibraryCall, silenced: bool, lines: list[str], width: int) -> Iterator[Line]:
    yield from opening(one, lines, width, silenced=silenced)
    yield from labelled("why", one.reason, width, indent=10)
    yield from labelled("op", listing(one.ops, MOST), width, indent=10)
    if one.verdict in _SHOWN and (one.guard.level != "none" or one.ops):
        yield from labelled("guard", guard(one.guard), width, indent=10)


def _others(report: KernelReport, width: int) -> Iterator[Line]:
    """What is wrong with suppression comments."""
    for finding in report.report.findings:
        if finding.hazard == "suppression":
            where = f"{place(finding.location)}:{finding.location.column}: "
            yield ((where, ""), (finding.severity, "bold yellow"), (f" {finding.rule}", "bold"))
            yield from labelled("what", finding.message, width, indent=10)
            yield ()


def _summary(report: KernelReport, left_out: int, width: int) -> Iterator[Line]:
    scan, found = report.scan, report.report
    yield ((headline(report), "bold"),)
    yield from item("sites", f"{len(scan.sites)}: {tally(report)}" if scan.sites else "none", width)
    yield from item("guards", guarded(report), width)
    if scan.library_calls:
        yield from item("libraries", count(len(scan.library_calls), "call"), width)
    yield from item("files", str(scan.files), width)
    if left_out:
        yield from item(
            "not shown", f"{left_out} that cannot vary, or only through their use (--all shows them)", width
        )
    yield from item("silenced", str(len(report.silenced) or ""), width)
    if scan.skipped:
        yield from item("skipped", skipped(scan), width)
    if found.unchecked:
        yield (("  not checked:", "bold red"),)
        for one in found.unchecked:
            yield from hanging(f"{printable(one.path)}: {one_line(one.reason)}", width)
