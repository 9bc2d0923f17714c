"""A report of `trace` as evidence for `check`: what it has seen confirms the finding that explains it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import validate
from evidence_files import PROGRAM
from tracing import traced

Ran = Callable[..., Any]
SOURCE = "import random\nimport os\nprint(os.listdir())\nx = random.random()\nprint(x)\n"


def test_a_draw_that_was_seen_confirms_its_finding(d9mlint: Ran) -> None:
    report = traced(d9mlint, SOURCE)
    assert report["culprits"][0]["finding"] == "program.py:4 unseeded-python"
    Path("trace.json").write_text(json.dumps(report))
    ran = d9mlint("check", "program.py", "--evidence", "trace.json", "--format", "json")
    validate(ran.json, "check")
    first = ran.json["findings"][0]
    assert (first["line"], first["confirmed"]) == (4, True)
    (seen,) = first["evidence"]
    assert (seen["program"], seen["kind"], seen["file"], seen["confirms"]) == ("program.py", "draw", "trace.json", True)
    assert all("evidence" not in one for one in ran.json["findings"][1:])
    text = " ".join(d9mlint("check", "program.py", "--evidence", "trace.json").out.split())
    assert (
        "seen: runs of `program.py` were seen to part in what they write, on line 4 of program.py: draws from" in text
    )
    assert d9mlint("check", "program.py", "--evidence", "trace.json", "--fail-on", "confirmed").code == 1


def test_a_trace_of_equal_runs_confirms_nothing(d9mlint: Ran) -> None:
    report = traced(d9mlint, "import random\nrandom.seed(1)\nprint(random.random())\n")
    assert report["verdict"] == "equal"
    Path("trace.json").write_text(json.dumps(report))
    Path("program.py").write_text(SOURCE)
    assert d9mlint("check", "program.py", "--evidence", "trace.json", "--fail-on", "confirmed").code == 0


CULPRIT = {"path": "train.py", "line": 6, "op": "SegmentSumV2", "kind": "op", "note": "the same inputs gave different results",
           "finding": "train.py:6 nondeterministic-op"}  # fmt: skip


@pytest.mark.parametrize(
    ("device", "version", "confirms", "differs"),
    [
        ("gpu, cpu", "2.9.1", True, []), ("cpu", "2.9.1", False, ["device gpu"]),
        ("gpu, cpu", "2.4.0", False, ["tensorflow 2.9.1"]), ("", "2.9.1", False, ["device gpu"]),
    ],
)  # fmt: skip
def test_an_op_is_confirmed_for_the_device_and_release_that_it_ran_on(
    d9mlint: Ran, device: str, version: str, confirms: bool, differs: list[str]
) -> None:
    Path("train.py").write_text(PROGRAM)
    settings = {"tensorflow": {"device": device}} if device else {}
    machine = {"cpu": "X", "cores": 2, "versions": {"python": "3.11.7", "tensorflow": version}, "settings": settings}
    data = {
        "schema": 1,
        "program": "train.py",
        "verdict": "part",
        "step": 3,
        "culprits": [CULPRIT],
        "environment": machine,
    }
    Path("trace.json").write_text(json.dumps(data))
    report = d9mlint(
        "check", "train.py", "--target", "tensorflow==2.9.1", "--evidence", "trace.json", "--format", "json"
    ).json
    found = next(one for one in report["findings"] if (one["line"], one["rule"]) == (6, "nondeterministic-op"))
    seen = next(one for one in found["evidence"] if "program" in one)
    assert (seen["confirms"], seen["differs"], found["confirmed"]) == (confirms, differs, confirms)
    assert "part at step 3" in seen["text"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 2}, "schema: expected 1, as `d9mlint trace --format json` writes"), ({"program": 3}, "program: expected text"),
        ({"culprits": [1]}, "culprits[0]: expected an object"), ({"culprits": [{**CULPRIT, "kind": "x"}]}, "culprits[0].kind: expected one of op,"),
        ({"environment": {}}, "environment.versions: missing"),
    ],
)  # fmt: skip
def test_a_damaged_report_is_a_usage_error(d9mlint: Ran, change: dict[str, Any], said: str) -> None:
    Path("train.py").write_text("print(1)\n")
    data = {
        "schema": 1, "program": "train.py", "verdict": "part", "step": 3, "culprits": [CULPRIT],
        "environment": {"cpu": "X", "versions": {}}, **change,
    }  # fmt: skip
    Path("trace.json").write_text(json.dumps(data))
    ran = d9mlint("check", "train.py", "--evidence", "trace.json")
    assert ran.code == 2
    assert "trace.json: not a file of evidence: " + said in " ".join(ran.err.split())
