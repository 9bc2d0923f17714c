"""A traced program for people: whether its runs part, where, and which switch decides."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Culprit, TraceReport
from d9mlint.model.trace import EQUAL, FAILED, PART
from d9mlint.report.lines import NARROWEST, Line, hanging, item, joined, labelled
from d9mlint.report.trace import words
from d9mlint.report.words import machine, one_line, printable

_STYLES = {EQUAL: "bold green", PART: "bold red", FAILED: "bold magenta"}
_COLUMN = 15
_MOST = 6


def render(report: TraceReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report; colours add escape sequences and change nothing else."""
    width = max(width, NARROWEST)
    lines = [
        *_verdict(report, width),
        *_culprits(report, width),
        *_draws(report, width),
        *_switches(report, width),
        *_shadow(report, width),
        *_cure(report, width),
        *_summary(report, width),
    ]
    return joined(lines, color=color)


def _verdict(report: TraceReport, width: int) -> Iterator[Line]:
    found = report.comparison
    yield ((f"{printable(report.program)}: ", ""), (words.headline(report), _STYLES.get(found.verdict, "bold")))
    if found.what:
        yield from labelled("what", one_line(found.what), width)
    yield from labelled("bound", words.bound(report), width, 9)


def _culprits(report: TraceReport, width: int) -> Iterator[Line]:
    for number, one in enumerate(report.culprits):
        yield ()
        yield from _culprit(one, number == 0, width)


def _culprit(one: Culprit, first: bool, width: int) -> Iterator[Line]:
    yield (
        (f"{words.where(one)}: ", ""), (one.kind, "bold red" if first else "bold yellow"),
        (f" {words.op(one)}", "bold"), ("" if first else " (also, independently)", "dim"),
    )  # fmt: skip
    if one.source:
        yield (f"{one.line:>5} | ", "dim"), (printable(one.source.rstrip()), "")
    yield from labelled("why", one_line(one.note), width)
    yield from labelled("in", one_line(one.inputs), width)
    yield from labelled("known", words.known(one), width, 9)
    if one.call and not one.finding:
        yield from labelled("call", "`--call FILE.py` writes a minimal one, for `d9mlint verify --make`", width, 8)


def _draws(report: TraceReport, width: int) -> Iterator[Line]:
    """Where the program draws before it seeds; where there is one and it is the culprit, nothing is new."""
    several = words.draws(report)
    told = {(one.path, one.line) for one in report.culprits}
    if all((one.path, one.line) in told for one in report.draws):
        return
    yield ()
    yield (("Drawn before a seed", "bold"),)
    for one in several[:_MOST]:
        yield from hanging(one, width)
    if len(several) > _MOST:
        yield ((f"    ... and {len(several) - _MOST} more", ""),)


def _switches(report: TraceReport, width: int) -> Iterator[Line]:
    if not report.switches:
        return
    yield ()
    yield (("Which switch decides?", "bold"),)
    column = max(_COLUMN, *(len(one.name) + 2 for one in report.switches))
    for one in report.switches:
        found = one.comparison
        why = words.unexplained(found)
        more = f" ({why})" if why else ""
        mark = " <- decides" if one.decides else ""
        yield (
            (f"  {one.name:<{column}}", "bold"), (words.tried(one), _STYLES.get(found.verdict, "")),
            (mark, "bold"), (more, ""),
            (f"  {printable(one.changes)}" if one.changes and not more else "", "dim"),
        )  # fmt: skip


def _shadow(report: TraceReport, width: int) -> Iterator[Line]:
    """Ops that vary by themselves: the verdict, and a line for each."""
    one = report.shadow
    if one is None:
        return
    yield ()
    yield (("Which ops vary by themselves? ", "bold"), (words.shadow(one), "bold red" if one.varying else ""))
    for each in one.varying:
        yield from hanging(f"{words.where(each)}: {words.op(each)}: {one_line(each.note)}", width)


def _cure(report: TraceReport, width: int) -> Iterator[Line]:
    """What the patches do: the verdict, what they are for, what they cost, what is left."""
    one = report.cure
    if one is None:
        return
    found = one.comparison
    yield ()
    yield (("Cured? ", "bold"), (words.cured(found), _STYLES.get(found.verdict, "")))
    if found.verdict in (PART, FAILED) and found.what:
        yield from labelled("what", one_line(found.what), width)
    if one.cured:
        yield from labelled("for", words.listed(one.cured, _MOST), width)
        yield from labelled(
            "in", f"{words.listed(one.patched, _MOST)} (a copy: `d9mlint check --fix --unsafe-fixes` writes it)", width
        )
    if one.cost is not None:
        ratio, low, high = one.cost
        sure = f"95 % interval {low:.2f} to {high:.2f}, {one.blocks} pairs of runs"
        yield from labelled("costs", f"{ratio:.2f} times the time of {one.timed} ({sure})", width, 9)
    if one.left:
        yield from labelled("left", words.listed(one.left, _MOST), width)


def _summary(report: TraceReport, width: int) -> Iterator[Line]:
    yield ()
    for conditions, number, ends in words.runs(report):
        yield from item("runs", f"{number} {conditions}: {ends}", width)
    yield from item("machine", machine(report.environment), width)
    for name, one in words.setup(report):
        yield from item(name, one, width)
    switched = words.switched(report)
    if switched:
        yield from item("switches", words.listed(switched, _MOST), width)
    if report.notes:
        yield (("  notes:", "bold"),)
        for note in report.notes:
            yield from hanging(one_line(note), width)
    if report.stopped:
        yield ((f"  partial report: {one_line(report.stopped)}", "bold red"),)
