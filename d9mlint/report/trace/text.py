"""A traced program for people: whether its runs part, where, and which switch decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from d9mlint.model import Comparison, Culprit, TracedRun, TraceReport
from d9mlint.model.trace import EQUAL, FAILED, PART, UNTRIED
from d9mlint.report.lines import NARROWEST, Line, hanging, item, joined, labelled
from d9mlint.report.words import count, one_line, printable

_STYLES = {EQUAL: "bold green", PART: "bold red", FAILED: "bold magenta"}
_COLUMN = 15
_MOST = 6


def render(report: TraceReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report; colours add escape sequences and change nothing else."""
    width = max(width, NARROWEST)
    lines = [
        *_verdict(report, width),
        *_culprits(report, width),
        *_switches(report, width),
        *_cure(report, width),
        *_summary(report, width),
    ]
    return joined(lines, color=color)


def _verdict(report: TraceReport, width: int) -> Iterator[Line]:
    found = report.comparison
    yield ((f"{printable(report.program)}: ", ""), (_headline(report), _STYLES.get(found.verdict, "bold")))
    if found.what:
        yield from labelled("what", one_line(found.what), width)
    if report.bound is not None:
        of = "of the steps, were they alike" if found.steps else "of further runs"
        yield from labelled("bound", f"at most {report.bound:.1%} {of}, may part (95 % confidence)", width, 9)


def _headline(report: TraceReport) -> str:
    found = report.comparison
    if found.verdict == EQUAL:
        if not found.steps:
            return "equal: the runs wrote the same"
        cut = " (the first ones: --steps)" if report.asked and found.steps >= report.asked else ""
        return f"equal for {count(found.steps, 'step')}{cut}"
    if found.verdict == PART:
        return f"the runs part at step {found.step}" if found.step else "the runs part"
    return "no verdict"


def _culprits(report: TraceReport, width: int) -> Iterator[Line]:
    for number, one in enumerate(report.culprits):
        yield ()
        yield from _culprit(one, number == 0, width)


def _culprit(one: Culprit, first: bool, width: int) -> Iterator[Line]:
    where = f"{printable(one.path)}:{one.line}" if one.path else "no line of the program's own"
    direction = f" ({one.direction})" if one.direction else ""
    yield (
        (f"{where}: ", ""), (one.kind, "bold red" if first else "bold yellow"),
        (f" {printable(one.op)}{direction}", "bold"), ("" if first else " (also, independently)", "dim"),
    )  # fmt: skip
    if one.source:
        yield (f"{one.line:>5} | ", "dim"), (printable(one.source.rstrip()), "")
    yield from labelled("why", one_line(one.note), width)
    yield from labelled("in", one_line(one.inputs), width)
    yield from labelled("known", one_line(one.finding) or "`d9mlint check` did not know this", width, 9)


def _switches(report: TraceReport, width: int) -> Iterator[Line]:
    if not report.switches:
        return
    yield ()
    yield (("Which switch decides?", "bold"),)
    for one in report.switches:
        found = one.comparison
        told = {EQUAL: "equal", PART: f"part at step {found.step}" if found.step else "part", UNTRIED: "not tried"}
        text = told.get(found.verdict, "failed")
        more = f" ({one_line(found.what)})" if found.verdict in (FAILED, UNTRIED) and found.what else ""
        mark = " <- decides" if one.decides else ""
        yield (
            (f"  {one.name:<{_COLUMN}}", "bold"), (text, _STYLES.get(found.verdict, "")), (mark, "bold"), (more, ""),
            (f"  {printable(one.changes)}" if one.changes and not more else "", "dim"),
        )  # fmt: skip


def _cure(report: TraceReport, width: int) -> Iterator[Line]:
    """What the patches do: the verdict, what they are for, what they cost, what is left."""
    one = report.cure
    if one is None:
        return
    found = one.comparison
    yield ()
    yield (("Cured? ", "bold"), (_cured(found), _STYLES.get(found.verdict, "")))
    if found.verdict in (PART, FAILED) and found.what:
        yield from labelled("what", one_line(found.what), width)
    if one.cured:
        yield from labelled("for", _several(one.cured), width)
        yield from labelled(
            "in", f"{_several(one.patched)} (a copy: `d9mlint check --fix --unsafe-fixes` writes it)", width
        )
    if one.cost is not None:
        ratio, low, high = one.cost
        sure = f"95 % interval {low:.2f} to {high:.2f}, {one.blocks} pairs of runs"
        yield from labelled("costs", f"{ratio:.2f} times the time of {one.timed} ({sure})", width, 9)
    if one.left:
        yield from labelled("left", _several(one.left), width)


def _cured(found: Comparison) -> str:
    if found.verdict == EQUAL:
        return f"yes: equal for {count(found.steps, 'step')}" if found.steps else "yes: the runs are equal"
    if found.verdict == PART:
        return f"no: with the patches the runs part at step {found.step}" if found.step else "no: the runs still part"
    return f"not tried: {one_line(found.what)}" if found.verdict == UNTRIED else "no verdict"


def _several(texts: Sequence[str]) -> str:
    more = f"; ... and {len(texts) - _MOST} more" if len(texts) > _MOST else ""
    return "; ".join(map(one_line, texts[:_MOST])) + more


def _summary(report: TraceReport, width: int) -> Iterator[Line]:
    yield ()
    groups: dict[tuple[str, str], list[TracedRun]] = {}
    for one in report.runs:
        groups.setdefault((one.stage, one.switch), []).append(one)
    for key, runs in groups.items():
        ends = "; ".join(dict.fromkeys(one_line(one.ended) for one in runs))
        yield from item("runs", f"{len(runs)} {' / '.join(key)}: {ends}", width)
    yield from item("machine", _machine(report), width)
    if report.notes:
        yield (("  notes:", "bold"),)
        for note in report.notes:
            yield from hanging(one_line(note), width)
    if report.stopped:
        yield ((f"  partial report: {one_line(report.stopped)}", "bold red"),)


def _machine(report: TraceReport) -> str:
    env = report.environment
    parts = [f"{env.get('cpu', '')}, {env.get('cores', '?')} cores, {env.get('system', '')}"]
    versions = env.get("versions")
    if isinstance(versions, dict):
        parts += [f"{name} {version}" for name, version in versions.items()]
    return ", ".join(one_line(part) for part in parts if part)
