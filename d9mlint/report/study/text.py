"""A study for people: how far runs lie apart, from which source, and what that means for comparisons."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model.study import ALGO, IMPL, Spread, StudyReport
from d9mlint.report.lines import NARROWEST, Line, hanging, item, joined
from d9mlint.report.words import count, one_line, printable

_TITLES = {
    ALGO: "seeds vary, implementation fixed",
    IMPL: "seeds fixed, implementation as it is",
}


def render(report: StudyReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report; colours add escape sequences and change nothing else."""
    width = max(width, NARROWEST)
    lines = [*_head(report), *(line for one in report.spreads for line in _group(one, width)), *_means(report, width)]
    return joined(lines, color=color)


def _head(report: StudyReport) -> Iterator[Line]:
    yield (
        (f"{printable(report.program)}: ", ""),
        (f"{count(report.asked, 'run')} of each group, metric `{one_line(report.metric)}`", "bold"),
    )


def _group(one: Spread, width: int) -> Iterator[Line]:
    yield ()
    yield ((f"{one.group.upper()}: ", "bold"), (_TITLES.get(one.group, ""), ""))
    if one.mean is not None:
        spread = f"mean {one.mean:.6g}, from {min(one.values):.6g} to {max(one.values):.6g}"
        yield from item("metric", f"{count(len(one.values), 'run')}: {spread}", width)
    if one.deviation is not None:
        yield from item("deviation", f"{one.deviation:.3g}", width)
    if one.churn is not None:
        yield from item("churn", f"{one.churn:.2%} of the predictions differ between two runs", width)
    if one.distance is not None:
        yield from item("weights", f"L2 between two runs: {one.distance:.3g} of the weights' own", width)
    for why in one.failed:
        yield from item("failed", one_line(why), width)


def _means(report: StudyReport, width: int) -> Iterator[Line]:
    yield ()
    if report.total is not None and report.detectable is not None:
        told = f"a difference of {report.detectable:.3g} or more shows in {count(report.asked, 'run')} of each variant"
        yield from item("together", f"standard deviation {report.total:.3g}", width)
        yield from item("means", f"{told} (80 % chance, 5 % error)", width)
    if report.needed is not None:
        yield from item("needed", f"{count(report.needed, 'run')} of each variant for {report.difference:g}", width)
    env = report.environment
    versions = env.get("versions")
    parts = [f"{env.get('cpu', '')}, {env.get('cores', '?')} cores, {env.get('system', '')}"]
    parts += [f"{name} {version}" for name, version in versions.items()] if isinstance(versions, dict) else []
    yield from item("machine", ", ".join(map(one_line, parts)), width)
    for note in report.notes:
        yield from hanging(one_line(note), width)
    if report.stopped:
        yield ((f"  partial report: {one_line(report.stopped)}", "bold red"),)
