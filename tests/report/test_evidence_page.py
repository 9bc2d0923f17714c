"""The page of `d9mlint verify --format html`: whole, escaped, self-contained, and its plots say what was seen."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browser import browser
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.model import Case, Evidence, EvidenceReport, Observation, Overhead, Tally, Unchecked, Unexecuted
from d9mlint.report.evidence import FORMATS, plots, render

EVIL = '</script><img src=x onerror=alert(1)>"'
VOID = {"meta", "input", "br", "img"}


def evidence(op: str = "scatter", **more: object) -> Evidence:
    figures: dict[str, object] = {
        "runs": 8, "distinct": 3, "differing": 5, "processes": 2, "first_differing": 2, "max_ulp": 6, "max_relative": 1e-6,
        "elements": 16, "tallies": (Tally(16, 1, 4, 3, 3),), "deterministic_mode": "det-mode-fixes",
        "overhead": Overhead(2.0, 1.5, 4.0, 1.0, 2.0, 24), "ulp_histogram": (9, 0, 1),
        "observations": (
            Observation("default", 16, (0, 1, 0, 2), ("a", "b", "c")),
            Observation("default", 1, (0, 0, 0, 0), ("a",)),
            Observation("deterministic", 0, (0, 0), ("a",)),
            Observation("deterministic", 16, problem="it crashed"),
        ),
    }  # fmt: skip
    case = Case(op, "torch", "forward", "1", name="into few cells")
    return Evidence(case, "cpu", "confirmed", ("confirmed", "det-mode-fixes"), **{**figures, **more})  # type: ignore[arg-type]


def sample() -> EvidenceReport:
    untested = Evidence(Case("fold", "tensorflow", "backward", "1"), "", "untested-needs-device", note=EVIL)
    evil = evidence(EVIL, findings=(f"{EVIL}.py:3 nondeterministic-op",), note=EVIL, raised=EVIL)
    environment = {"cpu": EVIL, "cores": 2, "system": "Linux"}
    return EvidenceReport(
        (evidence(), evil, untested), environment, (Unexecuted(EVIL, "no case"),), (Unchecked("a.py", EVIL),),
        (Unexecuted("late", ""),), f"interrupted {EVIL}",
    )  # fmt: skip


EMPTY = EvidenceReport((), {"cpu": "X", "cores": 1, "system": "Linux"})


class Page(HTMLParser):
    """Tags that are not closed in order, whatever could run or load something, and the rows."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.risky: list[str] = []
        self.tags: list[str] = []
        self.rows: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tbody":
            self.rows.append(dict(attrs))
        self.risky += [
            f"{tag} {name}={value}"
            for name, value in attrs
            if name in ("src", "href", "action", "style") or name.startswith("on")
        ]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def parsed(report: EvidenceReport) -> Page:
    page = Page()
    page.feed(render(report, "html"))
    page.close()
    return page


@pytest.mark.parametrize("report", [sample(), EMPTY], ids=["sample", "empty"])
def test_the_page_is_well_formed_and_loads_nothing(report: EvidenceReport) -> None:
    page, text = parsed(report), render(report, "html")
    assert (page.wrong, page.open, page.risky) == ([], [], [])
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert not re.search(r"https?://|url\(|@import", text)
    assert "default-src 'none'" in text


@pytest.mark.parametrize("format_", FORMATS)
def test_the_same_report_gives_the_same_bytes(format_: str) -> None:
    assert render(sample(), format_) == render(sample(), format_)


def test_everything_is_escaped_and_told() -> None:
    text = render(sample(), "html")
    assert EVIL not in text
    escaped = "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"
    assert text.count(escaped) >= 8
    for said in ("Partial report: interrupted", "Not executed", "Not come to", "late", "Not checked", "into few cells"):
        assert said in text


def test_rows_can_be_sorted_and_filtered_by_what_they_hold() -> None:
    first, _, last = parsed(sample()).rows
    assert (first["data-verdict"], first["data-share"], first["data-ulp"], first["data-ratio"]) == (
        "confirmed",
        "0.625",
        "6",
        "2.0",
    )
    assert (last["data-verdict"], last["data-framework"], last["data-direction"]) == (
        "untested-needs-device",
        "tensorflow",
        "backward",
    )
    text = render(sample(), "html")
    keys = set(re.findall(r'data-key="(\w+)"', text)) | set(re.findall(r'class="filter" name="(\w+)"', text))
    assert {f"data-{key}" for key in keys} <= first.keys()
    assert {"framework", "direction"} <= keys
    assert len(re.findall(r'<input type="checkbox" class="filter"', text)) == 2


@pytest.mark.parametrize(
    ("device", "about", "said"),
    [
        ("cpu", ("gpu",), "this CPU says nothing of a GPU"),
        ("cpu", ("gpu", "tpu"), "this CPU says nothing of a GPU or a TPU"),
        ("gpu", ("cpu",), "this GPU says nothing of a CPU"),
        ("cpu", ("cpu", "gpu"), ""),
        ("gpu", ("gpu",), ""),
        ("cpu", (), ""),
        ("", ("gpu",), ""),
    ],
)
def test_a_row_says_of_which_device_it_says_nothing(device: str, about: tuple[str, ...], said: str) -> None:
    """In the line that is always seen, and in no row but those concerned."""
    one = evidence()
    row = evidence(op="gather")._replace(device=device, case=one.case._replace(op="gather", about=about))
    head = re.findall(r'<tr class="head">.*?</tr>', render(EMPTY._replace(evidence=(one, row)), "html"), re.DOTALL)
    assert len(head) == 2
    assert "says nothing" not in head[0]
    assert re.findall(r'<small class="said">(this \w+ says nothing[^<]*)</small>', head[1]) == ([said] if said else [])


def test_every_plot_is_an_svg_of_its_own() -> None:
    found = re.findall(r"<svg.*?</svg>", render(sample(), "html"), re.DOTALL)
    assert len(found) == 6
    for one in found:
        tree = ElementTree.fromstring(one)
        assert tree.attrib["viewBox"] == f"0 0 {plots.WIDTH} {plots.HEIGHT}"
        assert tree.findall(".//title")


def test_the_lines_show_how_many_results_were_distinct_after_each_run() -> None:
    many, single, mode = plots.distinct_lines(evidence())
    assert [line.kind for line in (many, single, mode)] == ["default", "one", "deterministic"]
    assert many.title == "default mode, 16 threads: 3 distinct in 4 runs"
    heights = [float(point.split(",")[1]) for point in many.points.split()]
    assert heights == [37.0, 20.0, 20.0, 3.0]
    assert {point.split(",")[1] for point in single.points.split()} == {"37.0"}
    assert mode.points.split()[-1].startswith("39.7,")


def test_the_bars_count_elements_by_distance() -> None:
    one, none, far = plots.distance_bars((9, 0, 1))
    assert (one.title, none.title, far.title) == (
        "1 ULP: 9 elements",
        "2 to 3 ULP: 0 elements",
        "4 to 7 ULP: 1 element",
    )
    assert one.height == 3 * far.height
    assert none.height == 0
    assert plots.distance_bars(()) == plots.distance_bars((0, 0)) == ()


def test_the_cost_lies_right_of_the_middle_where_it_costs() -> None:
    span = plots.cost_span(Overhead(2.0, 0.5, 64.0, 1, 2, 24), plots.octaves([Overhead(1, 0.5, 64.0, 1, 1, 4)]))
    assert span.low < span.one < span.ratio < span.high == plots.WIDTH - 3
    assert span.one == plots.WIDTH / 2
    assert span.title == "2.00 times as long, 95 % interval 0.50 to 64.00"


@given(
    st.lists(st.integers(0, 2**40), max_size=64),
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=20), max_size=4),
    st.floats(0, 1e9),
)
def test_plots_stay_in_their_frame(counts: list[int], processes: list[list[int]], ratio: float) -> None:
    for bar in plots.distance_bars(counts):
        assert bar.x >= 0 and bar.x + bar.width <= plots.WIDTH and 0 <= bar.y <= bar.y + bar.height <= plots.HEIGHT
    seen = tuple(Observation("default", 0, tuple(one), tuple("abcdef")) for one in processes)
    for line in plots.distinct_lines(evidence(observations=seen)):
        for point in line.points.split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= plots.WIDTH and 0 <= y <= plots.HEIGHT
    cost = Overhead(ratio, ratio / 2, ratio * 2, 1, 1, 4)
    span = plots.cost_span(cost, plots.octaves([cost]))
    assert 0 <= span.low <= span.ratio <= span.high <= plots.WIDTH


@pytest.mark.slow
def test_a_browser_shows_the_cost_without_scrolling(tmp_path: Path) -> None:
    """Also with long names of ops and long lines of findings, the plot of the cost ends within the window."""
    width = 1200
    long = "torch.nn.functional.scaled_dot_product_attention with a mask that is given as booleans"
    others = ("untested-needs-device", "not-reproduced", "environment-sensitive")
    report = sample()._replace(
        evidence=(
            evidence()._replace(case=evidence().case._replace(about=("gpu", "tpu"))),
            evidence(deterministic_mode="not-reproduced")._replace(verdict=others[0], verdicts=others),
            evidence(long, findings=(f"src/models/transformer/{long.replace(' ', '_')}.py:1234 nondeterministic-op",)),
        )
    )
    path = tmp_path / "evidence.html"
    path.write_text(render(report, "html"), encoding="utf-8")
    with browser(width) as session:
        seen = session.opened(path)
        assert (seen.requests, seen.errors) == ([seen.url], [])
        assert session.evaluated("return document.documentElement.scrollWidth") <= width
        ends = session.evaluated(
            "return [...document.querySelectorAll('th, td')].map(one => one.getBoundingClientRect().right)"
        )
        assert max(ends) <= width
