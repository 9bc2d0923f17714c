"""A traced program as one HTML file: where two runs part, what brings it in, and what makes them equal."""

from __future__ import annotations

from typing import NamedTuple

from d9mlint.model import Culprit, Location, SwitchTried, TraceReport
from d9mlint.model.trace import DRAW, EQUAL, EXTERNAL, FAILED, MEMORY, OP, ORDER, PART, TIME, UNTRIED
from d9mlint.report import charts, html
from d9mlint.report.excerpt import ShownLine, around, source_lines
from d9mlint.report.trace import timeline, words
from d9mlint.report.words import count, machine, one_line, printable

_TEMPLATE = "trace/page.html.j2"
_CONTEXT = 6
_KINDS = {
    OP: "an op that gives different results for equal inputs",
    DRAW: "a generator that is in another state in each run",
    ORDER: "the same things in another order",
    MEMORY: "memory that is read before it was written",
    EXTERNAL: "data that comes in from outside",
    TIME: "a clock",
}
_TONES = {EQUAL: "no", PART: "yes", FAILED: "unknown", UNTRIED: "depends"}


class Row(NamedTuple):
    """A culprit."""

    where: str
    kind: str
    about: str
    op: str
    first: bool
    lines: tuple[ShownLine, ...]
    why: str
    known: str
    tensors: tuple[tuple[str, str, str, str, bool], ...]
    """Role, type and shape, the digests of both runs, whether they are the same."""
    call: str


class Tried(NamedTuple):
    """A row of the matrix of switches."""

    name: str
    changes: str
    told: str
    tone: str
    decides: bool
    more: str


def render(report: TraceReport) -> str:
    """The whole page."""
    return html.render(
        _TEMPLATE,
        headline=words.headline(report),
        tone=_TONES[report.comparison.verdict],
        report=report,
        program=printable(report.program),
        what=one_line(report.comparison.what),
        bound=words.bound(report),
        cards=_cards(report),
        timeline=timeline.timeline(report),
        growths=timeline.growths(report),
        culprits=[_row(one, number == 0, report) for number, one in enumerate(report.culprits)],
        shadow=None if report.shadow is None else words.shadow(report.shadow),
        varying=[_row(one, True, report) for one in (report.shadow.varying if report.shadow else ())],
        switches=[_tried(one) for one in report.switches],
        cured=None if report.cure is None else words.cured(report.cure.comparison),
        cured_tone="" if report.cure is None else _TONES[report.cure.comparison.verdict],
        cost=_cost(report),
        runs=words.runs(report),
        machine=machine(report.environment),
        draws=words.draws(report),
        switched=words.switched(report),
        setup=words.setup(report),
        files=_files(report),
        notes=[one_line(note) for note in report.notes],
        stopped=one_line(report.stopped),
        width=charts.WIDTH,
        height=charts.HEIGHT,
    )


def _cards(report: TraceReport) -> list[tuple[str, str, str]]:
    """What stands out, what it is, and more about it."""
    cards = [_parting(report)]
    if report.culprits:
        one = report.culprits[0]
        cards.append((one.kind, f"at {words.where(one)}", _KINDS[one.kind]))
    decides = [one.name for one in report.switches if one.decides]
    if report.switches:
        tried = sum(one.comparison.verdict != UNTRIED for one in report.switches) - 1
        cards.append((decides[0] if decides else "none", "decides, of the switches", f"{tried} tried"))
    if report.cure is not None:
        told, _, more = words.cured(report.cure.comparison).partition(": ")
        cards.append((told, "cured by patches", more))
    return cards


def _parting(report: TraceReport) -> tuple[str, str, str]:
    found = report.comparison
    steps = count(found.steps, "step")
    if found.verdict != PART:
        return (steps, "compared", words.bound(report)) if found.steps else ("no step", "of an optimizer was seen", "")
    if found.step:
        return f"step {found.step}", "where the runs part", f"equal for {steps} before"
    return "part", "is what the runs do", f"no step tells where; {steps} compared"


def _row(one: Culprit, first: bool, report: TraceReport) -> Row:
    lines = source_lines(report.sources[one.path]) if one.path in report.sources else []
    text = lines[one.line - 1] if 0 < one.line <= len(lines) else ""
    at = Location(one.path, one.line, len(text) - len(text.lstrip()) + 1, one.line, len(text.rstrip()) + 1)
    return Row(
        words.where(one), one.kind, _KINDS[one.kind], words.op(one), first,
        around(at, lines, _CONTEXT), one_line(one.note), words.known(one), _tensors(one), one.call,
    )  # fmt: skip


def _tensors(one: Culprit) -> tuple[tuple[str, str, str, str, bool], ...]:
    found = []
    for role in ("in", "out"):
        for number, each in enumerate([each for each in one.tensors if each.role == role], 1):
            kind = f"{each.dtype} {list(each.shape) if each.shape else 'scalar'}" if each.dtype else ""
            found.append((f"{role}put {number}", kind, *each.digests, each.same))
    return tuple(found)


def _tried(one: SwitchTried) -> Tried:
    return Tried(
        one.name, printable(one.changes), words.tried(one), _TONES[one.comparison.verdict], one.decides,
        one_line(one.comparison.what),
    )  # fmt: skip


def _files(report: TraceReport) -> list[str]:
    """Files that the first run read, in this order."""
    found = report.environment.get("files")
    return [printable(str(one)) for one in found] if isinstance(found, list) else []


def _cost(report: TraceReport) -> str:
    if report.cure is None or report.cure.cost is None:
        return ""
    ratio, low, high = report.cure.cost
    sure = f"95 % interval {low:.2f} to {high:.2f}, {report.cure.blocks} pairs of runs"
    return f"{ratio:.2f} times the time of {report.cure.timed} ({sure})"
