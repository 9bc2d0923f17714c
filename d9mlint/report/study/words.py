"""A study in words: what the text report and the page say alike."""

from __future__ import annotations

from d9mlint.model.study import ALGO, IMPL, Spread, StudyReport
from d9mlint.report.words import count

TITLES = {
    ALGO: "seeds vary, implementation fixed",
    IMPL: "seeds fixed, implementation as it is",
}


def metric(one: Spread) -> str:
    """Mean and range of the metric; empty where there is none."""
    if one.mean is None:
        return ""
    return f"{count(len(one.values), 'run')}: mean {one.mean:.6g}, from {min(one.values):.6g} to {max(one.values):.6g}"


def churn(one: Spread) -> str:
    """Empty where no predictions were saved."""
    return "" if one.churn is None else f"{one.churn:.2%} of the predictions differ between two runs"


def distance(one: Spread) -> str:
    """Empty where no weights were seen."""
    return "" if one.distance is None else f"L2 between two runs: {one.distance:.3g} of the weights' own"


def means(report: StudyReport) -> str:
    """What the spread means for comparisons; empty where it is not known."""
    if report.detectable is None:
        return ""
    told = f"a difference of {report.detectable:.3g} or more shows in {count(report.asked, 'run')} of each variant"
    return f"{told} (80 % chance, 5 % error)"


def needed(report: StudyReport) -> str:
    """How many runs the difference takes that was asked about."""
    if report.needed is None or report.difference is None:
        return ""
    return f"{count(report.needed, 'run')} of each variant for {report.difference:g}"
