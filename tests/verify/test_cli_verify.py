"""The command line of ``d9mlint verify``, with an interpreter that stands in for a framework in no time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, until_there, validate
from support import PLAIN, commanded, stand_in

OPS = """\
framework: torch
ops:
  - op: steady
    calls: [mine.steady]
    direction: forward
    devices: [gpu, cpu]
    status: [{default: varies, deterministic_mode: varies}]
    sources: [mine.cu]
    case: {run: "1.0"}
  - op: leaking
    calls: [mine.leaking]
    direction: forward
    devices: [gpu, cpu]
    status: [{default: varies, deterministic_mode: varies}]
    sources: [mine.cu]
    case: {run: "torch.next() + 0.0"}
  - op: curable
    calls: [mine.curable]
    direction: forward
    devices: [gpu, cpu]
    status: [{default: varies, deterministic_mode: varies}]
    sources: [mine.cu]
    case: {run: "0.0 if torch.deterministic() else torch.next() + 0.0"}
  - op: broken
    calls: [mine.broken]
    direction: forward
    devices: [gpu, cpu]
    status: [{default: varies, deterministic_mode: varies}]
    sources: [mine.cu]
    case: {run: "torch.fail('no such thing')"}
  - op: for a gpu
    calls: [mine.gpu]
    direction: forward
    devices: [gpu]
    status: [{default: varies, deterministic_mode: varies}]
    sources: [mine.cu]
    case: {run: "1.0", devices: [gpu]}
  - op: without a case
    calls: [mine.uncased]
    direction: forward
    devices: [gpu]
    status: [{default: varies, deterministic_mode: varies}]
    sources: [mine.cu]
"""
SLOW = """\
  - op: endless
    calls: [mine.endless]
    direction: forward
    devices: [gpu, cpu]
    status: [{default: varies, deterministic_mode: varies}]
    sources: [mine.cu]
    case: {run: "torch.pause() + 0.0"}
"""


@pytest.fixture
def verify(d9mlint: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """``d9mlint verify`` in a project with ops of its own."""
    return commanded(d9mlint, tmp_path, monkeypatch, OPS)


def ended_under_way(command: list[str], folder: Path) -> int:
    """The exit code of a job that is ended while one of its cases pauses."""
    told = folder / "under way"
    job = subprocess.Popen(
        command, cwd=folder, env={**os.environ, "PLAIN_UNDER_WAY": str(told)}, stderr=subprocess.DEVNULL
    )
    until_there(told)
    job.terminate()
    return job.wait(30)


def test_nothing_confirmed(verify: Callable[..., Any]) -> None:
    ran = verify("--op", "steady")
    assert ran.code == 0
    assert "not-reproduced steady [cpu, float32, eager, forward]" in ran.out
    assert "with 95 % confidence under each condition that can race, if runs are independent" in " ".join(
        ran.out.split()
    )
    assert "1 case: 1 not-reproduced" in ran.out


def test_it_says_before_what_it_will_execute(verify: Callable[..., Any]) -> None:
    ran = verify("--op", "steady", "--op", "leaking")
    assert ran.err.startswith("d9mlint: will execute 2 cases of 2 ops from the catalogue (torch) in child processes of")
    assert "no other code is run" in ran.err


def test_leaks_come_first(verify: Callable[..., Any]) -> None:
    ran = verify("--op", "steady", "--op", "curable", "--op", "leaking")
    assert ran.code == 1
    heads = [line.split()[0] for line in ran.out.splitlines() if "[cpu, " in line]
    assert heads == ["det-mode-leaks", "confirmed", "not-reproduced"]
    assert "deterministic mode does not cure it: " in ran.out
    assert "deterministic mode fixes it: equal in all 12 runs" in ran.out


def test_a_failed_case_is_one_line_and_the_others_go_on(verify: Callable[..., Any]) -> None:
    ran = verify("--op", "broken", "--op", "steady")
    assert ran.code == 3
    assert "harness-error broken" in ran.out
    assert "the op raised RuntimeError: no such thing" in ran.out
    assert "not-reproduced steady" in ran.out


def test_json_has_the_keys_of_the_contract(verify: Callable[..., Any]) -> None:
    ran = verify("--op", "leaking", "--op", "for a gpu", "--op", "without a case", "--format", "json")
    report = ran.json
    assert ran.code == 1
    validate(report, "verify")
    assert report["environment"]["torch"]["versions"] == {"plain": "1"}
    leaking, gpu = report["evidence"]
    contract = {"op", "finding", "device", "runs", "distinct", "verdict", "max_ulp", "deterministic_mode", "overhead"}
    assert contract <= set(leaking)
    assert (leaking["op"], leaking["verdict"], leaking["device"]) == ("leaking", "det-mode-leaks", "cpu")
    assert (gpu["verdict"], gpu["device"], gpu["runs"]) == ("untested-needs-device", None, 0)
    assert {one["threads"] for one in leaking["threads"]} == {1, 16, "default"}
    assert report["unexecuted"] == [{"op": "without a case", "reason": "the catalogue has no case for it"}]
    assert report["partial"] is False


def test_a_gpu_that_is_not_there_is_told(verify: Callable[..., Any]) -> None:
    ran = verify("--op", "steady", "--device", "gpu", "--format", "json")
    (one,) = ran.json["evidence"]
    assert (ran.code, one["verdict"], one["device"], one["runs"]) == (3, "untested-needs-device", None, 0)


def test_nothing_executed_is_never_green(verify: Callable[..., Any]) -> None:
    ran = verify("--op", "steady", "--device", "gpu")
    assert ran.code == 3
    assert "nothing was executed: the device that was asked for is not here" in " ".join(ran.out.split())
    ran = verify("--op", "for a gpu")
    assert (ran.code, "nothing was executed: the case needs a GPU" in " ".join(ran.out.split())) == (3, True)
    ran = verify("--op", "without a case")
    assert (ran.code, "the catalogue has no case for it" in ran.out) == (3, True)


def test_a_program_without_findings_about_ops_says_so(verify: Callable[..., Any]) -> None:
    Path("plain.py").write_text("print(1)\n")
    ran = verify("plain.py")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "Nothing was executed: no finding is about an op.")


@pytest.mark.parametrize("option", ["--output", "--record"])
def test_paths_are_tried_before_anything_runs(verify: Callable[..., Any], option: str) -> None:
    ran = verify("--op", "steady", option, "nowhere/report.json")
    assert ran.code == 2
    assert "cannot write nowhere/report.json: No such file or directory" in ran.err
    assert "will execute" not in ran.err


def test_a_report_takes_the_place_of_the_one_before_at_once(verify: Callable[..., Any]) -> None:
    Path("report.txt").write_text("before")
    Path("report.txt").chmod(0o640)
    assert verify("--op", "steady", "--output", "report.txt").code == 0
    assert "not-reproduced" in Path("report.txt").read_text()
    assert Path("report.txt").stat().st_mode & 0o777 == 0o640
    assert not [path for path in Path().iterdir() if path.name.endswith(".part")]


def test_a_job_that_is_ended_leaves_a_partial_report_and_no_process(tmp_path: Path) -> None:
    mark = f"d9m-{os.getpid()}-slow"
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\nexport D9M_MARK={mark}\nexec {sys.executable} {PLAIN} "$2" "$3"\n')
    wrapper.chmod(0o755)
    (tmp_path / "ops.yaml").write_text(OPS + SLOW)
    (tmp_path / "d9mlint.toml").write_text('catalogues = ["ops.yaml"]\n')
    words = ["verify", "--python", str(wrapper), "--runs", "6", "--op", "steady", "--op", "endless"]
    command = [sys.executable, "-m", "d9mlint", *words, "--output", "report.json", "--format", "json"]
    assert ended_under_way(command, tmp_path) == 3
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["partial"], report["stopped"]) == (True, "interrupted")
    assert "endless" in [one["op"].split(" / ")[0] for one in report["unfinished"]]
    left = [p for p in Path("/proc").glob("[0-9]*/environ") if mark.encode() in _read(p)]
    assert left == []


@pytest.mark.parametrize("about", ["gpu, cpu", "gpu"])
def test_a_cut_off_is_told_whatever_the_entries_are_about(
    about: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from d9mlint.app.verify import ops as app
    from d9mlint.app.verify.plan import VerifyOptions, planned

    (tmp_path / "ops.yaml").write_text(OPS.replace("gpu, cpu", about))
    (tmp_path / "d9mlint.toml").write_text('catalogues = ["ops.yaml"]\n')
    monkeypatch.chdir(tmp_path)

    class Ended:
        def begin(self, case: object) -> None:
            if len(state.found) == 1:
                raise KeyboardInterrupt

        def end(self) -> None:
            pass

    options = VerifyOptions(ops=("steady", "curable"), runs=6, python=str(stand_in(tmp_path)), device="cpu")
    state = app.Verifying(planned(options))
    assert app.verify(state, options, Ended()).stopped == "interrupted"


def test_what_was_seen_of_the_case_under_way_is_kept(tmp_path: Path) -> None:
    wrapper = stand_in(tmp_path)
    run = "torch.pause() if torch.deterministic() else torch.next() + 0.0"
    (tmp_path / "ops.yaml").write_text(OPS.replace('run: "1.0"', f'run: "{run}"'))
    (tmp_path / "d9mlint.toml").write_text('catalogues = ["ops.yaml"]\n')
    words = ["verify", "--python", str(wrapper), "--runs", "6", "--op", "steady", "--format", "json"]
    command = [sys.executable, "-m", "d9mlint", *words, "--output", "report.json"]
    assert ended_under_way(command, tmp_path) == 3
    report = json.loads((tmp_path / "report.json").read_text())
    (found,) = report["evidence"]
    assert (found["verdict"], found["deterministic_mode"], found["note"].partition(";")[0]) == (
        "confirmed", "not-run", "cut off after 1 process",
    )  # fmt: skip
    assert [one["op"].split(" / ")[0] for one in report["unfinished"]] == ["steady"]


def test_a_report_grows_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from d9mlint.cli import verify_progress
    from d9mlint.model import Case

    monkeypatch.setattr(verify_progress, "_KEEPING", 0.0)
    kept: list[str] = []
    with verify_progress.progress(2, lambda: kept.append("kept"), every=0.01) as under_way:
        under_way.begin(Case("tf.gather", "tensorflow", "forward", "1"))
        assert "0 of 2 cases" in under_way.line
        assert "now tf.gather / forward" in under_way.line
        under_way.end()
    assert kept == ["kept"]


def test_without_a_terminal_a_line_tells_where_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    from d9mlint.cli import verify_progress
    from d9mlint.model import Case

    with verify_progress.progress(3, lambda: None, every=0.01) as under_way:
        under_way.begin(Case("tf.gather", "tensorflow", "forward", "1"))
        end = time.monotonic() + 20
        said = ""
        while "now tf.gather" not in said:
            assert time.monotonic() < end
            said += capsys.readouterr().err
    assert said.startswith("d9mlint: 0 of 3 cases after ")


def test_a_hanging_start_is_bounded_by_the_time(tmp_path: Path, d9mlint: Callable[..., Any]) -> None:
    wrapper = tmp_path / "python"
    wrapper.write_text("#!/bin/sh\nexec sleep 60\n")
    wrapper.chmod(0o755)
    (tmp_path / "ops.yaml").write_text(OPS)
    (tmp_path / "d9mlint.toml").write_text('catalogues = ["ops.yaml"]\n')
    begun = time.monotonic()
    ran = d9mlint("verify", "--python", str(wrapper), "--op", "steady", "--time", "1")
    assert ran.code == 3
    assert time.monotonic() - begun < 15


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_the_evidence_can_be_kept(verify: Callable[..., Any]) -> None:
    assert verify("--op", "leaking", "--record", "evidence.json").code == 1
    kept = json.loads(Path("evidence.json").read_text())
    assert kept["evidence"][0]["op"] == "leaking"
    assert kept["label"].startswith("CPU evidence")
    assert len(kept["date"]) == 10
    assert kept["environment"]["cores"] > 0


def test_the_time_cuts_off_and_says_so(verify: Callable[..., Any]) -> None:
    ran = verify("--op", "steady", "--op", "leaking", "--time", "0.0001", "--format", "json")
    assert ran.code == 3
    assert ran.json["partial"]
    assert [one["op"].split(" / ")[0] for one in ran.json["unfinished"]] == ["steady", "leaking"]


def test_a_report_of_check(verify: Callable[..., Any]) -> None:
    finding = {"rule": "nondeterministic-op", "path": "a.py", "line": 3, "message": "...", "ops": ["leaking"]}
    Path("report.json").write_text(json.dumps({"schema": 1, "findings": [finding]}))
    ran = verify("report.json", "--format", "json")
    assert ran.json["evidence"][0]["finding"] == "a.py:3 nondeterministic-op"


def test_a_script_is_never_run(verify: Callable[..., Any]) -> None:
    Path("train.py").write_text("open('executed', 'w').close()\nimport random\nprint(random.random())\n")
    ran = verify("train.py")
    assert ran.code == 0
    assert "Nothing was executed: no finding is about an op." in ran.out
    assert not Path("executed").exists()


def test_a_script_that_cannot_be_parsed_is_not_clean(verify: Callable[..., Any]) -> None:
    Path("train.py").write_text("import tensorflow as tf\ndef f(:\n")
    ran = verify("train.py", "--format", "json")
    assert ran.code == 3
    assert ran.json["unchecked"][0]["path"] == "train.py"


@pytest.mark.parametrize("path", sorted((ROOT / "rules" / "evidence").glob("*.json")), ids=lambda path: path.name)
def test_the_evidence_that_is_kept_is_whole_and_labelled(path: Path) -> None:
    kept = json.loads(path.read_text(encoding="utf-8"))
    validate(kept, "verify")
    assert not kept["partial"]
    assert kept["label"].split()[0] == path.name[:3].upper()
    assert {one["device"] for one in kept["evidence"]} - {None} == {path.name[:3]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name one of"),
        (["--op", "nothing"], "no op is called `nothing`"),
        (["--all", "--op", "steady"], "name one of"),
        (["gone.py"], "path not found: gone.py"),
        (["--op", "steady", "--runs", "1"], "Invalid value"),
    ],
)
def test_usage_errors(verify: Callable[..., Any], words: list[str], said: str) -> None:
    ran = verify(*words)
    assert ran.code == 2
    assert said in ran.err


def test_the_text_is_the_same_for_the_same_report() -> None:
    from d9mlint.model import Case, Evidence, EvidenceReport, Overhead, Tally
    from d9mlint.report.evidence import render

    op = Case(op="tf.math.bincount", framework="tensorflow", direction="forward", run="1")
    one = Evidence(
        op, "cpu", "det-mode-leaks", ("det-mode-leaks", "confirmed"), ("a.py:3 nondeterministic-op",), 100, 2, 40, 60, 2,
        None, 7, 1e-6, 16, tallies=(Tally(16, 1, 50, 40, 60),), deterministic_mode="det-mode-leaks",
        deterministic=(Tally(16, 1, 50, 30, 44),), overhead=Overhead(1.5, 1.2, 1.9, 2.0, 3.0, 24),
    )  # fmt: skip
    assert render(EvidenceReport((one,), {"cpu": "X", "cores": 2, "system": "Linux"}), "text").splitlines() == [
        "det-mode-leaks tf.math.bincount [cpu, float32, eager, forward] (and confirmed)",
        "  for:  a.py:3 nondeterministic-op",
        "  runs: 60 of 100 runs differ, in 2 processes, first in run 2",
        "  threads: 16: 60 of 50 (40 distinct)",
        "  far:  up to 7 ULP, 1.0e-06 of the largest element (16 elements)",
        "  mode: deterministic mode does not cure it: 44 of 50 runs differ",
        "  cost: deterministic mode takes 1.50 times as long (1.20 to 1.90, 2 ms a run without)",
        "",
        "1 of 1 op varied; 1 case: 1 det-mode-leaks",
        "  machine:    X, 2 cores, Linux",
    ]


def test_explain_tells_of_kept_evidence(d9mlint: Callable[..., Any]) -> None:
    out = d9mlint("explain", "tf.math.bincount").out
    assert "## Seen by `d9mlint verify`" in out
    assert "deterministic mode does not cure it (with weights, forward, eager, float32" in out


def test_the_runs_that_are_asked_for_are_made(verify: Callable[..., Any]) -> None:
    ran = verify("--op", "steady", "--runs", "5000", "--format", "json")
    (one,) = ran.json["evidence"]
    assert one["runs"] == 5000 * 4  # in each of four processes of default mode
