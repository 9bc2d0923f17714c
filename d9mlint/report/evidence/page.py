"""Evidence as one HTML file: a table that sorts and filters, with small plots of each case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from d9mlint.model import OUTCOMES, Evidence, EvidenceReport
from d9mlint.model.evidence import CONFIRMED, HARNESS, LEAKS, NOT_REPRODUCED, RAISES, RNG, SENSITIVE, UNINITIALISED
from d9mlint.report import html
from d9mlint.report.evidence import plots, words
from d9mlint.report.evidence.plots import Bar, Line, Span
from d9mlint.report.words import count, one_line

_TEMPLATE = "evidence/page.html.j2"
_TONES = {LEAKS: "yes", CONFIRMED: "yes", HARNESS: "unknown", NOT_REPRODUCED: "no"}
_TONES |= dict.fromkeys((RAISES, UNINITIALISED, RNG, SENSITIVE), "conditional")


class Row(NamedTuple):
    """A case as the page shows it; ``key`` is its anchor, ``order`` its place in the report."""

    key: str
    order: str
    op: str
    case: str
    framework: str
    device: str
    direction: str
    execution: str
    dtype: str
    verdict: str
    rank: int
    tone: str
    verdicts: tuple[str, ...]
    elsewhere: str
    """Of which device this row says nothing though the entry is about it; empty where it ran there."""
    share: float
    differing: str
    lines: tuple[Line, ...]
    bars: tuple[Bar, ...]
    far: str
    ulp: int
    mode: str
    span: Span | None
    ratio: float
    facts: tuple[tuple[str, str], ...]
    findings: tuple[str, ...]


def render(report: EvidenceReport) -> str:
    """The whole page."""
    reach = plots.octaves([one.overhead for one in report.evidence if one.overhead])
    rows = [_row(number, one, reach) for number, one in enumerate(report.evidence, 1)]
    choices = {name: sorted({getattr(row, name) for row in rows} - {""}) for name in _CHOICES}
    return html.render(
        _TEMPLATE,
        headline=headline(report),
        machine=words.machine(report),
        cards=_cards(report),
        rows=rows,
        verdicts=[verdict for verdict in OUTCOMES if any(row.verdict == verdict for row in rows)],
        choices={name: values for name, values in choices.items() if len(values) > 1},
        width=plots.WIDTH,
        height=plots.HEIGHT,
        report=report,
    )


_CHOICES = ("framework", "device", "direction", "execution", "dtype")
"""What rows can be filtered by, beside the verdict."""


def headline(report: EvidenceReport) -> str:
    """What was seen, in one line."""
    partial = "partial report: " if report.unfinished else ""
    return f"{partial}{words.headline(report)} ({count(len(report.evidence), 'case')})"


def _cards(report: EvidenceReport) -> list[tuple[str, str, str]]:
    """Number, what it counts, and more about it."""
    found = Counter(one.verdict for one in report.evidence)
    rest = sum(number for verdict, number in found.items() if verdict not in (LEAKS, CONFIRMED, RAISES, NOT_REPRODUCED))
    return [
        (str(found[LEAKS]), "vary in deterministic mode, too", "det-mode-leaks"),
        (str(found[CONFIRMED]), "vary", "confirmed"),
        (str(found[RAISES]), "refused in deterministic mode", "det-mode-raises"),
        (str(found[NOT_REPRODUCED]), "not seen to vary", "not-reproduced: other conditions may differ"),
        (str(rest), "of another kind", "see the verdicts"),
        (str(len(report.unexecuted) + len(report.unfinished)), "not executed", "named at the end"),
    ]


def _row(number: int, one: Evidence, reach: float) -> Row:
    case, cost = one.case, one.overhead
    facts = (
        ("runs", words.differing(one)), ("by threads", words.by_threads(one.tallies)), ("distance", words.far(one)),
        ("deterministic mode", words.mode(one) if one.runs else ""),
        ("its threads", words.by_threads(one.deterministic)), ("cost", words.cost(one)), ("inputs", one.inputs),
        ("note", one_line(one.note)),
    )  # fmt: skip
    return Row(
        key=f"case-{number}", order=f"{number:06}", op=one_line(case.op), case=one_line(case.name),
        framework=case.framework, device=one.device, direction=case.direction, execution=case.execution,
        dtype=case.dtype, verdict=one.verdict, rank=OUTCOMES.index(one.verdict), tone=_TONES.get(one.verdict, ""),
        verdicts=one.verdicts[1:], elsewhere=words.elsewhere(one), share=one.differing / one.runs if one.runs else -1.0,
        differing=f"{one.differing} of {one.runs}" if one.runs else "", lines=plots.distinct_lines(one),
        bars=plots.distance_bars(one.ulp_histogram), far=_ulp(one), ulp=one.max_ulp or 0,
        mode=one.deterministic_mode.removeprefix("det-mode-") if one.runs else "",
        span=plots.cost_span(cost, reach) if cost else None, ratio=cost.ratio if cost else -1.0,
        facts=tuple((name, value) for name, value in facts if value), findings=_shown(one.findings),
    )  # fmt: skip


def _ulp(one: Evidence) -> str:
    return f"up to {one.max_ulp} ULP" if one.max_ulp else ""


def _shown(findings: Sequence[str]) -> tuple[str, ...]:
    return tuple(one_line(finding) for finding in findings)
