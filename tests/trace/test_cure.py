"""`trace --cure`: a copy of the program is patched and run; the user's files stay as they are."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tracing import traced

from d9mlint.trace.copying import copied, top_of
from d9mlint.trace.cost import RUNS, STEPS, cost
from d9mlint.trace.process import RAN, Ended
from d9mlint.trace.recording import Recording
from d9mlint.trace.run import Conditions, Run

Ran = Callable[..., Any]
DRAW = "import random\nprint('begin')\nprint(random.random())\n"


def test_the_patched_copy_is_run_and_the_program_stays_as_it_is(
    d9mlint: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    report = traced(d9mlint, DRAW, "--cure")
    cure = report["cure"]
    assert (report["code"], report["verdict"], cure["verdict"]) == (1, "part", "equal")
    assert (cure["patched"], cure["cured"]) == (["program.py"], ["program.py:3 unseeded-python"])
    assert "+random.seed(1)" in cure["diff"]
    assert 0 < cure["cost"]["low"] < cure["cost"]["ratio"] < cure["cost"]["high"]
    assert (cure["cost"]["blocks"], cure["cost"]["timed"]) == (3, "whole runs")
    assert Path("program.py").read_text() == DRAW
    assert list((tmp_path / "temporary").iterdir()) == []
    assert [one["switch"] for one in report["runs"]].count("cured") == 3


def test_modules_data_and_arguments_are_those_of_the_program(d9mlint: Ran) -> None:
    """What it imports is patched where it lies, what it reads and writes is found as always."""
    Path("work").mkdir()
    Path("work/noise.py").write_text("import random\ndef draw():\n    return random.random()\n")
    Path("data.txt").write_text("1")
    source = """\
import sys
sys.path.append("work")
from noise import draw
print(open("data.txt").read(), sys.argv[1:], draw())
"""
    report = traced(d9mlint, source, "--cure", "--", "--size", "3")
    assert report["cure"]["verdict"] == "equal", report["cure"]
    assert "work/noise.py:3 unseeded-python" in report["cure"]["cured"]


def test_a_cause_that_has_no_patch_is_left(d9mlint: Ran) -> None:
    report = traced(d9mlint, "import os\nprint(os.urandom(4))\n", "--cure")
    assert report["cure"]["verdict"] == "not-tried"
    assert report["cure"]["cost"] is None


def test_runs_that_part_in_spite_of_the_patches(d9mlint: Ran) -> None:
    source = "import random, time\nprint(random.random())\nprint(time.time_ns())\n"
    cure = traced(d9mlint, source, "--cure")["cure"]
    assert (cure["verdict"], cure["what"]) == ("part", "what they write to the standard output differs")
    assert cure["cured"] == ["program.py:2 unseeded-python"]


def test_patches_that_the_program_does_not_stand(d9mlint: Ran) -> None:
    """The failure is told with the user's paths, not those of the copy."""
    source = "import random\nprint(random.random())\nassert len(open(__file__).read().splitlines()) < 5, __file__\n"
    cure = traced(d9mlint, source, "--cure")["cure"]
    assert cure["verdict"] == "failed"
    assert "ended with exit code 1: AssertionError" in cure["what"]
    assert "d9mlint-cure" not in cure["what"]


def test_equal_runs_need_no_cure(d9mlint: Ran) -> None:
    report = traced(d9mlint, "print(1)\n", "--cure")
    assert (report["cure"], report["notes"]) == (None, ["the runs are equal: there is nothing to cure"])


def test_a_copy_has_links_to_what_is_large(tmp_path: Path) -> None:
    top, out = tmp_path / "project", tmp_path / "out"
    for folder in (top / "data", top / ".git", top / "__pycache__", out):
        folder.mkdir(parents=True)
    (top / "train.py").write_text("old")
    (top / "data" / "small").write_text("1")
    (top / "data" / "large").write_bytes(bytes(2**20 + 1))
    (top / "link").symlink_to("train.py")
    os.mkfifo(top / "pipe")
    copy = copied(top, out, {top / "train.py": b"new"})
    assert (copy.folder, copy.whole) == (out / "project", True)
    assert (copy.folder / "train.py").read_text() == "new"
    assert (top / "train.py").read_text() == "old"
    assert not (copy.folder / "data" / "small").is_symlink()
    assert (copy.folder / "data" / "large").readlink() == top / "data" / "large"
    assert (copy.folder / ".git").is_symlink()
    assert sorted(one.name for one in copy.folder.iterdir()) == [".git", "data", "link", "train.py"]
    assert copy.path(top / "data") == copy.folder / "data"
    assert copy.path(tmp_path / "elsewhere") == tmp_path / "elsewhere"


def test_a_folder_too_large_is_linked_to_but_for_the_patched_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("d9mlint.trace.copying._MOST", 1)
    for name in ("a", "b", "src/deep"):
        (tmp_path / "top" / name).mkdir(parents=True)
    (tmp_path / "top" / "src" / "deep" / "x.py").write_text("old")
    (tmp_path / "out").mkdir()
    copy = copied(tmp_path / "top", tmp_path / "out", {tmp_path / "top" / "src" / "deep" / "x.py": b"new"})
    assert not copy.whole
    assert (copy.folder / "src" / "deep" / "x.py").read_text() == "new"
    assert (copy.folder / "b").is_symlink()


def test_the_folder_that_is_copied(tmp_path: Path) -> None:
    for name in ("project/scripts", "project/src", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    project, script = tmp_path / "project", tmp_path / "project" / "scripts" / "train.py"
    assert top_of(script, project, [script]) == project
    assert top_of(script, project / "scripts", [project / "src" / "data.py"]) == project
    assert top_of(script, tmp_path / "elsewhere", [script]) == project / "scripts"
    assert top_of(script, Path("/proc"), [Path("/proc/x.py")]) == project / "scripts"


def _run(step: float, steps: int, seconds: float = 1.0) -> Run:
    times = tuple(step * n for n in range(steps))
    return Run(Conditions(), 0, Ended(RAN, 0, seconds), Recording(times=times), "", {})


def test_what_a_cure_costs() -> None:
    """The geometric mean of the pairs' ratios; the interval by hand: 95 %, two degrees of freedom."""
    pairs = [(_run(1, 20), _run(2, 20)), (_run(1, 20), _run(4, 20)), (_run(1, 20), _run(8, 20))]
    found = cost(pairs)
    assert found is not None
    half = 4.303 * math.log(2) / math.sqrt(3)
    assert (found.ratio, found.of, found.pairs) == (pytest.approx(4), STEPS, 3)
    assert (found.low, found.high) == (pytest.approx(4 / math.exp(half)), pytest.approx(4 * math.exp(half)))
    assert cost(pairs[:1]) is None


def test_few_steps_are_not_timed_one_by_one() -> None:
    found = cost([(_run(1, 3, 10.0), _run(9, 3, 20.0))] * 2)
    assert found is not None
    assert (found.ratio, found.of) == (pytest.approx(2), RUNS)
