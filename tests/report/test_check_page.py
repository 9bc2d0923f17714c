"""The page of `d9mlint check --format html`: whole, escaped, self-contained, with the plan, and alive in a browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from d9mlint.model import (
    Backing,
    Coverage,
    Edit,
    EnvironmentVariable,
    Finding,
    Fix,
    Launch,
    Location,
    Package,
    PlanRow,
    Record,
    Related,
    Report,
    Rule,
    Target,
    Unchecked,
    Unfollowed,
)
from d9mlint.report import render
from d9mlint.report.check.rows import source

EVIL = "</script><img src=x onerror=alert(1)>\"'\x1b\u202e"
VOID = {"meta", "input", "br", "img"}
TRAIN = f"""import numpy as np
# {EVIL}
\tnoise = np.random.randn(8)  # {EVIL}
more = np.random.rand(3)
"""


def rule(name: str, family: str, **more: Any) -> Rule:
    words = {"hazard": "unseeded-rng", "noise": "algo", "summary": f"{EVIL} summary", "message": ""}
    return Rule(name, "D9M101", family, "error", "high", **{"why": f"Because.\n\n    {EVIL}\n", **words, **more})


def finding(name: str, line: int, severity: str = "warning", **more: Any) -> Finding:
    at = Location(f"{EVIL}.py", line, 10, line, 25)
    return Finding(name, "D9M101", "unseeded-rng", "algo", severity, "high", f"`np.random` {EVIL}", at, **more)


def sample() -> Report:
    """A report each text of which would run or load something if it were not escaped."""
    path, other = f"{EVIL}.py", "other.py"
    record = Record(EVIL, "torch", "2.0", "confirmed", "cpu", EVIL, 2, note=EVIL, file=EVIL, date=EVIL, runs=3)
    places = tuple(Related(Location(other, n, 1, n, 9), f"{EVIL} {n}", EVIL) for n in range(1, 20))
    first = finding(
        "unseeded-numpy", 3, remedy=f"Seed it with `{EVIL}`:\n\n    np.random.seed(1)\n    {EVIL}\n", when=(EVIL, "`-x` is given"),
        related=(Related(Location(path, 4, 1, 4, 9), EVIL), *places, places[0]), entries=(path, other), ops=(EVIL,),
        fixes=(Fix(EVIL, (Edit(Location(path, 1, 1, 1, 1), f"{EVIL}\n"),), safe=False),),
        evidence=(Backing(record, (EVIL,), confirms=True),), fingerprint="01", cause="unseeded-01",
    )  # fmt: skip
    grave = finding(EVIL, 4, "error", fingerprint=EVIL)
    mild = finding("late", 1, "info", entries=(other,), fingerprint="02")
    target = Target({"torch": Package("2.0", EVIL)})
    plan = (
        PlanRow("generators", f"{EVIL}'s", f"nothing seeds `{EVIL}`", Location(path, 3, 1, 3, 2), (EVIL,)),
        PlanRow("switches", "benchmark", "off"),
    )
    call = Unfollowed(Location(path, 4, 1, 4, 2), EVIL, EVIL)
    return Report(
        (first, mild, grave), {path: target, other: target}, (path, other, "idle.py"), files=3, suppressed=1,
        hidden=2, unchecked=(Unchecked(path, EVIL),), plans={path: plan},
        coverage={
            path: Coverage(2, 5, {EVIL: 2}, (call,), kept=False), other: Coverage(1, 1, {}, (call,)),
            "idle.py": Coverage(1, 0, {}, interpreted=False),
        },
        launches={path: (Launch(Location(EVIL, 1, 1, 1, 2), (EnvironmentVariable("A", EVIL, call.location),)),)},
        rules={
            "unseeded-numpy": rule("unseeded-numpy", "seeds", sources=(EVIL, "doc:https://a.org/x#y", f"https://a.org/{EVIL}")),
            EVIL: rule(EVIL, EVIL, why=""),
        },
        sources={path: TRAIN},
    )  # fmt: skip


EMPTY = Report((), {"a.py": Target()}, entries=("a.py",), files=1)


class Page(HTMLParser):
    """Tags that are not closed in order, whatever could run or load something, links, anchors and rows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.risky: list[str] = []
        self.tags: list[str] = []
        self.links: set[str] = set()
        self.ids: list[str] = []
        self.rows: list[dict[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tbody":
            self.rows.append({name: value or "" for name, value in attrs})
        for name, value in attrs:
            if name == "href" and tag == "a":
                self.links.add(value or "")
            elif name in ("src", "href", "action", "style") or name.startswith("on"):
                self.risky.append(f"{tag} {name}={value}")
            elif name == "id":
                self.ids.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.mark.parametrize("report", [sample(), EMPTY], ids=["sample", "empty"])
def test_the_page_is_well_formed_and_loads_nothing(report: Report) -> None:
    text = render(report, "html")
    page = Page(text)
    assert (page.wrong, page.open, page.risky) == ([], [], [])
    assert page.tags.count("script") == 1
    assert not {"img", "link", "iframe", "object", "form", "base"} & {*page.tags}
    assert not re.search(r"url\(|@import|[\x1b\u202e]", text)
    assert "default-src 'none'" in text
    assert len(page.ids) == len({*page.ids})
    assert {link[1:] for link in page.links if link.startswith("#")} <= {*page.ids}
    assert all(link.startswith(("#", "https://")) for link in page.links)


def test_everything_is_escaped_and_told() -> None:
    text = render(sample(), "html")
    assert "<img" not in text
    assert text.count("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;") > 50
    for said in (
        "3 findings: 1 error, 1 warning, 1 info", "confirmed", "Because.", "np.random.seed(1)", "Other places", "other.py",
        "<summary>and 7 more</summary>", "(unsafe)", "When all of this holds", "Generators", "nothing seeds",
        "could not be followed", "(in 2 programs)", "Not checked", "1 suppressed, 2 hidden (low confidence)",
        "# d9m: ignore[unseeded-numpy] reason", "random choice of the algorithm", "3 of 5 functions in 2 files", "keeps nothing",
        "with A=", "idle.py", "Functions that are not seen to be called", "torch 2.0",
    ):  # fmt: skip
        assert said in text, said


def test_the_place_is_marked_in_its_lines() -> None:
    text = render(sample(), "html")
    assert '<span class="here"><i>3</i>    noise = <mark>np.random.randn</mark>(8)' in text
    assert "<i>2</i># &lt;/script" in text
    assert '<span class="at">line 4</span>' in text
    assert "<pre>more = np.random.rand(3)</pre>" in text


def test_the_gravest_come_first_and_rows_hold_what_filters_ask_for() -> None:
    text = render(sample(), "html")
    rows = Page(text).rows
    assert [row["data-verdict"] for row in rows] == ["error", "warning", "info"]
    assert [row["data-entry"] for row in rows] == ["", "program-1|program-2", "program-2"]
    keys = {*re.findall(r'data-key="(\w+)"', text), *re.findall(r'class="filter" name="(\w+)"', text)}
    assert keys == {"rank", "rule", "message", "place", "family", "entry"}
    assert all({f"data-{key}" for key in keys} <= row.keys() for row in rows)


def test_nothing_found_needs_no_table() -> None:
    text = render(EMPTY, "html")
    assert "<h1>No findings.</h1>" in text
    assert "<table" not in text
    lost = render(EMPTY._replace(unchecked=(Unchecked("a.py", "syntax error"),)), "html")
    assert "<h1>No findings in what could be checked.</h1>" in lost
    assert "<code>a.py</code> syntax error" in lost


@pytest.mark.parametrize(
    ("text", "shown", "url"),
    [
        ("doc:https://a.org/b#c", "https://a.org/b#c", "https://a.org/b#c"),
        ("see https://a.org/b", "see https://a.org/b", "https://a.org/b"),
        ("issue:a/b#12", "a/b#12", "https://github.com/a/b/issues/12"),
        ("github:a/b#12", "a/b#12", "https://github.com/a/b/issues/12"),
        ("github:a/b:c/d.py:7", "a/b:c/d.py:7", "https://github.com/a/b/blob/HEAD/c/d.py#L7"),
        ("github:a/b@v1.2:c/d.py (f)", "a/b@v1.2:c/d.py (f)", "https://github.com/a/b/blob/v1.2/c/d.py"),
        ("pkg:torch==2.0.1:torch/x.py", "torch==2.0.1:torch/x.py", "https://pypi.org/project/torch/2.0.1/"),
        ("measured", "measured", ""),
        ("javascript:alert(1)", "javascript:alert(1)", ""),
    ],
)
def test_sources_are_links_where_there_is_a_page(text: str, shown: str, url: str) -> None:
    assert source(text) == (shown, url)


# -- the command -------------------------------------------------------------------------------------------------------

PROGRAM = """import argparse
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int)
args = parser.parse_args()
if args.seed is not None:
    np.random.seed(args.seed)
print(np.random.rand(3))
"""


def test_the_plan_is_on_the_page_without_being_asked_for(d9mlint: Callable[..., Any], tmp_path: Path) -> None:
    Path("train.py").write_text(PROGRAM)
    ran = d9mlint("train.py", "--format", "html", "--output", "report.html")
    assert (ran.code, ran.out, ran.err) == (1, "", "")
    text = Path("report.html").read_text(encoding="utf-8")
    assert "<code>numpy.random.seed</code> seeds it with <code>--seed</code>" in text
    assert "the default run of <code>train.py</code> is not seeded" in text
    assert str(tmp_path) not in text
    assert d9mlint("train.py", "--format", "html").out == text
    assert d9mlint("train.py", "--format", "html", "--plan").out == text
    assert d9mlint("train.py", "--format", "html", "--", "--seed", "1").code == 0


def test_what_cannot_be_read_is_told_with_its_exit_code(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text("def (:\n")
    ran = d9mlint("train.py", "--format", "html")
    assert ran.code == 3
    assert 'id="unchecked"' in ran.out


def test_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(PROGRAM)

    def page(seed: str, *words: str) -> bytes:
        command = [sys.executable, "-m", "d9mlint", "check", "--format", "html", "--no-cache", *words]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False).stdout

    first = page("0", "a.py", "b.py")
    assert first.count(b'<details class="program"') == 2
    assert page("1", "b.py", "a.py") == first


# -- in a browser ------------------------------------------------------------------------------------------------------

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WATCH = "<script>window.errors = []; addEventListener('error', event => errors.push(String(event.message)));</script>"
ACT = """<script>
const shown = () => Array.from(document.querySelectorAll("#rows tbody"), row => row.hidden ? "" : row.dataset.verdict).join(" ").trim();
const set = (one, value) => { one.value = value; one.dispatchEvent(new Event("input")); };
const seen = {first: shown()};
const text = document.getElementById("text");
set(text, "line 19");
seen.text = shown();
set(text, "");
const entry = document.querySelector("select[name=entry]");
set(entry, "program-2");
seen.entry = shown();
set(entry, "");
const box = document.querySelector("input[value=error]");
box.click();
seen.box = shown();
box.click();
document.querySelector("th button").click();
seen.sorted = shown();
const row = document.querySelector("#rows tbody");
const unfolded = () => getComputedStyle(row.querySelector(".more")).display;
seen.folded = unfolded();
row.querySelector(".head").click();
seen.unfolded = unfolded();
document.getElementById("all").click();
seen.all = document.querySelectorAll("#rows tbody.open").length;
seen.requests = performance.getEntriesByType("resource").length;
seen.errors = errors;
document.title = JSON.stringify(seen);
</script>"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_the_page_lives_in_a_browser(tmp_path: Path) -> None:
    text = render(sample(), "html").replace("<main>", WATCH + "<main>").replace("</body>", ACT + "</body>")
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
        f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", (tmp_path / "page.html").as_uri(),
    ]  # fmt: skip
    dom = subprocess.run(command, capture_output=True, check=True, timeout=120).stdout.decode()
    told = re.search(r"<title>(.*?)</title>", dom, re.DOTALL)
    assert told is not None
    assert json.loads(told[1]) == {
        "first": "error warning info", "text": "warning", "entry": "warning info", "box": "warning info",
        "sorted": "info warning error", "folded": "none", "unfolded": "table-row", "all": 3, "requests": 0, "errors": [],
    }  # fmt: skip
