"""A study as one HTML file: how far runs lie apart, from which source, and what that means for comparisons."""

from __future__ import annotations

from d9mlint.model.study import StudyReport
from d9mlint.report import charts, html
from d9mlint.report.study import plots, words
from d9mlint.report.words import count, machine, one_line, printable

_TEMPLATE = "study/page.html.j2"


def render(report: StudyReport) -> str:
    """The whole page."""
    plotted = (plots.spread(report), plots.needed(report))
    return html.render(
        _TEMPLATE,
        program=printable(report.program),
        metric=one_line(report.metric),
        headline=_headline(report),
        runs=count(report.asked, "run"),
        cards=_cards(report),
        charts_=[one for one in plotted if one is not None],
        figures=plots.figures(report),
        groups=[
            (one.group.upper(), words.TITLES[one.group], words.metric(one),
             "" if one.deviation is None else f"{one.deviation:.3g}",
             words.churn(one), words.distance(one), [one_line(why) for why in one.failed])
            for one in report.spreads
        ],
        means=words.means(report),
        needed=words.needed(report),
        machine=machine(report.environment),
        notes=[one_line(note) for note in report.notes],
        stopped=one_line(report.stopped),
        width=charts.WIDTH,
        height=charts.HEIGHT,
    )  # fmt: skip


def _headline(report: StudyReport) -> str:
    if report.total is None:
        return "no spread is known"
    return f"standard deviation {report.total:.3g} from run to run"


def _cards(report: StudyReport) -> list[tuple[str, str, str]]:
    """A figure, what it is, and more about it."""
    cards = [
        (f"{one.deviation:.3g}", f"standard deviation, {one.group.upper()}", words.TITLES[one.group])
        for one in report.spreads
        if one.deviation is not None
    ]
    if report.detectable is not None:
        cards.append(
            (f"{report.detectable:.3g}", f"shows in {count(report.asked, 'run')}", "or more: 80 % chance, 5 % error")
        )
    if report.needed is not None and report.difference is not None:
        cards.append((str(report.needed), f"runs for {report.difference:g}", "of each variant"))
    return cards
