"""The report for the author of kernels: kernel by kernel, the most exposed first, in few lines each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from d9mlint.model import GUARD_LEVELS, VERDICTS, KernelOp, KernelReport, LibraryCall, Site
from d9mlint.report.excerpt import source_lines
from d9mlint.report.kernels.advice import advice
from d9mlint.report.kernels.opening import opening
from d9mlint.report.kernels.words import VERDICT_WORDS, guard, op_title
from d9mlint.report.lines import Line, labelled
from d9mlint.report.words import listing, one_line, printable

MOST_LINES = 15
"""Of a kernel."""
_OPS = 3
_SITES = 8
_ROOM = {"why": 3, "also": 1, "op": 1, "python": 1, "guard": 1, "way": 2}
"""Lines that a part of a kernel may take; the rest is for what to do."""
_SHORTENED = ("way", "why", "python", "also", "why")
"""Parts that give a line each, in this order, where a kernel would take too many."""
_INDENT = 10


class Kernel(NamedTuple):
    """The sites and calls of one function that are shown, the gravest first."""

    sites: tuple[Site | LibraryCall, ...]
    silenced: bool

    @property
    def first(self) -> Site | LibraryCall:
        """The gravest."""
        return self.sites[0]


def kernels(report: KernelReport, shown: Iterable[Site | LibraryCall]) -> list[Kernel]:
    """The kernels: unguarded ones first, by verdict, then those that more ops reach, with more sites."""
    together: dict[tuple[str, str], list[Site | LibraryCall]] = {}
    for one in shown:
        name = one.function or f"{one.location.line}"
        together.setdefault((one.location.path, name), []).append(one)
    found = []
    for group in together.values():
        group.sort(key=lambda one: (VERDICTS.index(one.verdict), one.location))
        found.append(Kernel(tuple(group), all(one.location in report.silenced for one in group)))
    return sorted(found, key=_exposure)


def _exposure(kernel: Kernel) -> tuple[object, ...]:
    first = kernel.first
    ops = {name for one in kernel.sites for name in one.ops}
    level = min(GUARD_LEVELS.index(one.guard.level) for one in kernel.sites)
    return kernel.silenced, level, VERDICTS.index(first.verdict), -len(ops), -len(kernel.sites), first.location


def blocks(report: KernelReport, shown: Iterable[Site | LibraryCall], width: int) -> Iterator[Line]:
    """The lines of all kernels, each followed by a blank one."""
    ops = {op.name: op for op in report.scan.ops}
    texts: dict[str, list[str]] = {}
    for kernel in kernels(report, shown):
        path = kernel.first.location.path
        if path not in texts:
            texts[path] = source_lines(report.scan.sources.get(path, ""))
        yield from _block(kernel, ops, report, texts[path], width)
        yield ()


def _block(kernel: Kernel, ops: dict[str, KernelOp], report: KernelReport, lines: list[str], width: int) -> list[Line]:
    first = kernel.first
    met = [ops[name] for name in dict.fromkeys(n for one in kernel.sites for n in one.ops) if name in ops]
    way = met[0] if met else None
    source = lines[first.location.line - 1] if 1 <= first.location.line <= len(lines) else ""
    remedy = advice(first, source, way, report.scan.sources)
    told = {
        "why": first.reason,
        "also": _others(kernel.sites[1:]),
        "op": _named(met),
        "python": listing(way.python, _OPS) if way is not None else "",
        "way": _way(way, first) if way is not None else "",
        "guard": guard(first.guard) if first.guard.level != "none" or (met and not remedy) else "",
    }
    before = list(opening(first, lines, width, silenced=kernel.silenced))
    after = list(labelled("do", remedy, width, indent=_INDENT))
    room = dict(_ROOM)
    for label in _SHORTENED:  # lines to write are worth more than the rest of a sentence
        parts = [line for name, text in told.items() for line in _part(name, text, room[name], width)]
        if len(before) + len(parts) + len(after) <= MOST_LINES:
            break
        room[label] -= 1
    parts = [line for name, text in told.items() for line in _part(name, text, room[name], width)]
    return [*before, *parts, *after][:MOST_LINES]


def _part(label: str, text: str, room: int, width: int) -> Iterator[Line]:
    """A part of a kernel, cut after the lines that it may take."""
    found = list(labelled(label, text, width, indent=_INDENT))
    if room and len(found) > room:
        head, (last, style) = found[room - 1]
        found[room - 1] = (head, (last[: width - _INDENT - 4].rstrip() + " ...", style))
    return iter(found[:room])


def _others(sites: tuple[Site | LibraryCall, ...]) -> str:
    """``3 `atomicAdd` at 315, 317, 319 (can vary)``: equal ones are told together."""
    together: dict[tuple[str, str], list[int]] = {}
    for one in sites:
        name = one.atomic if isinstance(one, Site) else one.name
        together.setdefault((name, one.verdict), []).append(one.location.line)
    told = []
    for (name, verdict), numbers in together.items():
        listed = ", ".join(map(str, sorted(set(numbers))[:_SITES]))
        more = f" and {len(set(numbers)) - _SITES} more" if len(set(numbers)) > _SITES else ""
        number = f"{len(numbers)} " if len(numbers) > 1 else ""
        told.append(f"{number}`{one_line(name)}` at {listed}{more} ({VERDICT_WORDS[verdict]})")
    return "; ".join(told)


def _named(met: list[KernelOp]) -> str:
    titles = [f"{printable(op.name)} ({one_line(about)})" if (about := op_title(op)) else op.name for op in met[:_OPS]]
    return ", ".join(titles) + (f" and {len(met) - _OPS} more" if len(met) > _OPS else "")


def _way(op: KernelOp, first: Site | LibraryCall) -> str:
    """The steps to Python in one line; the file of a step only where it is another than that of the step before."""
    told, path = [], first.location.path
    for step in op.chain_from(first.location):
        home = step.location.path
        where = f"{step.location.line}" if home == path else f"{home.rpartition('/')[2]}:{step.location.line}"
        told.append(f"{one_line(step.text)} ({where})")
        path = home
    return " -> ".join(told)
