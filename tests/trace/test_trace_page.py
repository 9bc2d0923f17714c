"""The pages of `trace` and `study`: whole, escaped, self-contained, and their plots say what was seen."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browser import browser
from hypothesis import assume, given
from hypothesis import strategies as st
from reports import EVIL, PARTED, STUDIED, STUDIES, TRACES

from d9mlint.model import Apart, Comparison
from d9mlint.report import charts
from d9mlint.report.study import plots
from d9mlint.report.study import render as study_page
from d9mlint.report.trace import render as trace_page
from d9mlint.report.trace import timeline
from d9mlint.trace.growth import growth, relative, ulps
from d9mlint.trace.recording import Loss, Recording, Sample

NAMES = [*(f"trace-{name}" for name in TRACES), *(f"study-{name}" for name in STUDIES)]


@cache
def page_of(name: str) -> str:
    """The page of a report, made when a test first asks for it."""
    kind, _, report = name.partition("-")
    return trace_page(TRACES[report], "html") if kind == "trace" else study_page(STUDIES[report], "html")


VOID = {"meta", "input", "br"}


class Page(HTMLParser):
    """Tags that are not closed in order, and whatever could run or load something."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.risky: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("script", "img", "link", "iframe"):
            self.risky.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(str(value))
            if name in ("src", "href", "action", "style") or name.startswith("on"):
                self.risky.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_well_formed_and_has_nothing_that_runs_or_loads(name: str) -> None:
    text = page_of(name)
    page = Page()
    page.feed(text)
    page.close()
    assert (page.wrong, page.open, page.risky) == ([], [], [])
    assert len(page.ids) == len(set(page.ids))
    assert not re.search(r"https?://|url\(|@import", text)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1] == "default-src 'none'; style-src 'unsafe-inline'"
    assert EVIL not in text


@pytest.mark.parametrize("name", NAMES)
def test_every_plot_says_what_it_shows(name: str) -> None:
    for one in re.findall(r"<svg.*?</svg>", page_of(name), re.DOTALL):
        tree = ElementTree.fromstring(one)
        assert not re.search(r"\bnan\b|\binf\b", one.lower())
        assert tree.attrib["role"] == "img"
        assert tree.findtext("title") and tree.findtext("desc")
        for name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height"):
            for found in tree.iter():
                assert re.fullmatch(r"-?[\d.]+%?", found.get(name, "0")), (name, found.attrib)


def test_the_trace_tells_all_that_is_known() -> None:
    text = page_of("trace-parted")
    for said in (
        "the runs part at step 6", "where the runs part", "picked = torch.zeros", "a3f0c1d2e4b59687", "float32 [50, 16]", "different",
        "nondeterministic-op", "did not know this", "decides", "no time was left: --time", "equal for 20 steps", "1.25 times",
        "+np.random.seed(1)", "no patch is known", "CUBLAS_WORKSPACE_CONFIG", "6 of 6 times", "1 op by line", "A minimal call", "the runs did not start alike",
    ):  # fmt: skip
        assert said in text, said
    assert len(re.findall("<figure>", text)) == 4
    assert "<figure>" not in page_of("trace-equal")
    assert "Partial report" in page_of("trace-failed")


def test_the_lines_of_two_runs_part_where_the_step_is() -> None:
    found = timeline.timeline(PARTED)
    assert found is not None and found.fork is not None
    assert found.fork == pytest.approx(4 + 6 / 20 * 92)
    assert found.fork < found.bend < min(found.ends)
    short = PARTED._replace(runs=(PARTED.runs[0], PARTED.runs[1]._replace(steps=10)))
    ends = timeline.timeline(short)
    assert ends is not None and ends.ends == (96.0, 50.0)
    assert timeline.timeline(TRACES["equal"]).fork is None  # type: ignore[union-attr]
    assert timeline.timeline(PARTED._replace(runs=())) is None


def test_the_study_shows_each_run() -> None:
    spread, needed = plots.spread(STUDIED), plots.needed(STUDIED)
    assert spread is not None and needed is not None
    assert [sum(dot.kind == kind for dot in spread.dots) for kind in ("one", "other")] == [8, 8]
    assert len(spread.bands) == 2 and spread.bands[0].width > 3 * spread.bands[1].width
    assert all(
        dot.y < min(other.y for other in spread.dots if other.kind == "other")
        for dot in spread.dots
        if dot.kind == "one"
    )
    assert needed.mark is not None and needed.mark.label == f"0.002: {STUDIED.needed} runs"
    assert [one.told for one in plots.figures(STUDIED)[1].bars] == ["7.10%", "1.20%"]
    assert plots.spread(STUDIES["nothing"]) is None


def test_ulps_by_hand() -> None:
    assert ulps(1.0, 1.0 + 2**-23, "float32") == 1
    assert ulps(1.0, 1.0 - 2**-24, "float32") == 1
    assert ulps(-(2.0**-149), 2.0**-149, "float32") == 2
    assert ulps(2.0**-126, 2.0**-126 - 2.0**-149, "float32") == 1
    assert ulps(1.0, 1.0 + 2**-7, "bfloat16") == 1
    assert ulps(1.0, 2.0, "float16") == 1024
    assert ulps(0.1, math.nextafter(0.1, 1), "float64") == 1
    assert ulps(1.0, math.nan, "float32") is None
    assert ulps(1.0, 2.0, "int64") is None
    assert relative([3, 4], [3, 9]) == 1.0


def _recording(losses: list[float], weights: list[float]) -> Recording:
    return Recording(
        tuple("x" for _ in weights), (), tuple(Loss(one.hex(), one.hex(), n, "float32") for n, one in enumerate(losses)),
        tuple(Sample(n, "float32", (one, 1.0)) for n, one in enumerate(weights, 1)),
    )  # fmt: skip


def test_growth_is_told_step_by_step() -> None:
    found = growth(
        _recording([1.0, 2.0, math.nan], [0.0, 0.0, 0.0]), _recording([1.0, 2 + 2**-22, 3.0], [0.0, 0.0, 1.0]), 2
    )
    assert found == (
        Apart(1, (1.0, 1.0), 0, 0.0, 0), Apart(2, (2.0, 2 + 2**-22), 1, 0.0, 0), Apart(3, (None, 3.0), None, 1.0, 127 << 23),
    )  # fmt: skip


def test_growth_is_bounded_and_keeps_the_step_of_parting() -> None:
    found = growth(_recording([1.0] * 9000, [1.0] * 9000), _recording([1.0] * 9000, [1.0] * 9000), 4711)
    assert len(found) <= 403
    assert {1, 4711, 9000} <= {one.step for one in found}


@given(st.floats(1e-12, 1e12), st.floats(1e-9, 1e9), st.booleans())
def test_axes_keep_numbers_inside(low: float, size: float, logarithmic: bool) -> None:
    assume(size > 1e-9 * low)
    axis = charts.across(low, low + size, logarithmic=logarithmic)
    ticks = axis.ticks()
    assert 1 <= len(ticks) <= 13
    assert all(axis.start - 0.5 <= tick.at <= axis.end + 0.5 for tick in ticks)
    assert [tick.at for tick in ticks] == sorted(tick.at for tick in ticks)
    assert axis.at(low) <= axis.at(low + size)


@pytest.mark.parametrize(
    ("value", "said"), [(0, "0"), (0.25, "0.25"), (1e5, "1e5"), (123456, "1.23e5"), (2.5e-7, "2.5e-7"), (1000, "1000")]
)
def test_numbers_at_an_axis_are_short(value: float, said: str) -> None:
    assert charts.short(value) == said


def test_an_axis_without_extent() -> None:
    assert [tick.label for tick in charts.across(3, 3).ticks()] == ["3"]
    growths = timeline.growths(PARTED._replace(growth=(Apart(1), Apart(2)), comparison=Comparison("part", 1)))
    assert growths == ()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "dark"), [(1200, False), (400, False), (1200, True)])
def test_a_browser_shows_them(tmp_path: Path, width: int, dark: bool) -> None:
    """Nothing but the page is asked for, nothing fails, nothing is wider than the screen, plots are seen and can be read."""
    with browser(width, dark=dark) as session:
        for name in NAMES:
            path = tmp_path / f"{name}.html"
            path.write_text(page_of(name), encoding="utf-8")
            seen = session.opened(path)
            assert (seen.requests, seen.errors) == ([seen.url], []), name
            assert session.evaluated("return document.documentElement.scrollWidth") <= width, name
            assert session.evaluated("return document.scripts.length") == 0
            boxes = session.evaluated(
                "return [...document.querySelectorAll('svg')].map(one => [one.getBoundingClientRect().width,"
                " ...[...one.querySelectorAll('text')].map(text => text.getBoundingClientRect().height)])"
            )
            assert all(box[0] > 40 and all(height >= 10 for height in box[1:]) for box in boxes), name
            colours = session.evaluated(
                "return ['color', 'backgroundColor'].map(one => getComputedStyle(document.body)[one])"
            )
            ink, page = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours)
            assert (ink > page) == dark
        assert session.printed().startswith(b"%PDF")
