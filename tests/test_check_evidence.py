"""`d9mlint check --evidence`: what executing ops has shown, beside the findings that it bears on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import validate
from evidence_files import PROGRAM, environment, kept, seen

from d9mlint.model import Evidence

BINCOUNT = "tf.math.bincount"
H200 = environment(version="2.9.1", gpus=["NVIDIA H200"])
Check = Callable[..., Any]


@pytest.fixture
def check(d9mlint: Check, tmp_path: Path) -> Check:
    """Checks the program for TensorFlow 2.9.1 on a GPU."""
    Path("train.py").write_text(PROGRAM)
    return lambda *words: d9mlint("train.py", "--target", "tensorflow==2.9.1", *words)


def keep(name: str, *evidence: Evidence, **machine: object) -> str:
    Path(name).write_text(json.dumps(kept(*evidence, **(machine or H200))))
    return name


def segment_op(check: Check) -> str:
    """What the catalogue calls the op of line 6."""
    first = next(one for one in check("--format", "json").json["findings"] if one["line"] == 6)
    assert first["rule"] == "nondeterministic-op"
    return str(first["ops"][0])


def test_without_evidence_nothing_is_said(check: Check) -> None:
    report = check("--format", "json").json
    assert [one["line"] for one in report["findings"]] == [6, 7]
    assert not any(one.keys() & {"evidence", "confirmed"} for one in report["findings"])
    assert "seen:" not in check().out


def test_what_is_confirmed_comes_first_and_says_so_in_every_format(check: Check) -> None:
    leak = seen(BINCOUNT, "det-mode-leaks", case="with weights")
    file = keep("ours.json", leak, seen(segment_op(check), "not-reproduced"))
    text = check("--evidence", file).out
    heads = [line for line in text.splitlines() if line.startswith("train.py:")]
    assert heads[0].startswith(
        "train.py:7:7: warning nondeterministic-op [D9M401] confirmed: the result of `tf.math.bincount`"
    )
    assert heads[1].startswith("train.py:6:7: warning nondeterministic-op [D9M401] the result")
    flat = " ".join(text.split())
    assert (
        "seen: observed on GPU (NVIDIA H200), tensorflow 2.9.1: 199 of 200 runs differ; deterministic mode does not"
        in flat
    )
    assert (
        "seen: not reproduced on GPU (NVIDIA H200), tensorflow 2.9.1: 200 equal runs, other conditions may differ"
        in flat
    )
    assert "evidence: 1 confirmed, 1 not confirmed by the evidence about their ops" in flat

    report = check("--evidence", file, "--format", "json").json
    validate(report, "check")
    assert [(one["line"], one["confirmed"]) for one in report["findings"]] == [(7, True), (6, False)]
    (one,) = report["findings"][0]["evidence"]
    assert (one["verdict"], one["hardware"], one["file"], one["own"]) == (
        "det-mode-leaks",
        "NVIDIA H200",
        "ours.json",
        False,
    )
    assert one["confirms"] and not one["differs"]
    results = json.loads(check("--evidence", file, "--format", "sarif").out)["runs"][0]["results"]
    assert results[0]["properties"]["confirmed"] is True
    assert results[0]["properties"]["evidence"] == [one]
    first = check("--evidence", file, "--format", "github").out.splitlines()[0]
    assert "title=nondeterministic-op [D9M401] confirmed::" in first
    assert "%0Aseen: observed on GPU (NVIDIA H200)" in first


def test_severity_message_and_number_of_findings_stay(check: Check) -> None:
    file = keep("ours.json", seen(BINCOUNT, "not-reproduced"), seen(segment_op(check), "confirmed"))
    key = lambda one: (one["line"], one["message"], one["severity"], one["confidence"], one["fingerprint"])  # noqa: E731
    before = check("--format", "json").json["findings"]
    after = check("--evidence", file, "--format", "json").json["findings"]
    assert sorted(map(key, before)) == sorted(map(key, after))


@pytest.mark.parametrize(
    ("machine", "device", "label"),
    [
        (environment(version="2.9.1"), "cpu", "device gpu"),
        (environment(version="2.10.0", gpus=["A"]), "gpu", "tensorflow 2.9.1"),
        (environment(version="2.10.0"), "cpu", "device gpu, tensorflow 2.9.1"),
    ],
)
def test_what_was_seen_elsewhere_is_labelled_and_confirms_nothing(
    check: Check, machine: dict[str, object], device: str, label: str
) -> None:
    file = keep("theirs.json", seen(BINCOUNT, "confirmed", device), **machine)
    text = " ".join(check("--evidence", file).out.split())
    assert f"not on your target ({label}): 199 of 200 runs differ" in text
    assert "confirmed:" not in text
    assert check("--evidence", file, "--fail-on", "confirmed").code == 0


def test_a_patch_release_and_a_build_are_the_same_release(check: Check) -> None:
    file = keep("ours.json", seen(BINCOUNT, "confirmed"), **environment(version="2.9.3+nv23.1", gpus=["A"]))
    assert check("--evidence", file, "--fail-on", "confirmed").code == 1


def test_a_version_that_nobody_stated_is_called_assumed(d9mlint: Check) -> None:
    Path("train.py").write_text(PROGRAM)
    file = keep("ours.json", seen(BINCOUNT, "confirmed"))
    text = " ".join(d9mlint("train.py", "--evidence", file).out.split())
    assert "not on your target (tensorflow 2.21.0 assumed, the newest known release)" in text


def test_several_files_strongest_first(check: Check) -> None:
    calm = keep("a.json", seen(BINCOUNT, "not-reproduced"))
    wild = keep("b.json", seen(BINCOUNT, "confirmed", dtype="float16"), seen(BINCOUNT, "det-mode-leaks"))
    words = ("--evidence", calm, "--evidence", wild, "--format", "json")
    finding = check(*words).json["findings"][0]
    assert [(one["verdict"], one["file"]) for one in finding["evidence"]] == [
        ("det-mode-leaks", "b.json"), ("confirmed", "b.json"), ("not-reproduced", "a.json"),
    ]  # fmt: skip
    assert check(*words).out == check("--evidence", wild, "--evidence", calm, "--format", "json").out
    assert "; 2 more observations" in " ".join(check(*words[:4]).out.split())


@pytest.mark.parametrize(
    ("verdict", "fail_on", "code"),
    [
        ("confirmed", "confirmed", 1),
        ("not-reproduced", "confirmed", 0),
        ("confirmed", "error", 0),
        ("confirmed", "error,confirmed", 1),
        ("not-reproduced", "confirmed, warning", 1),
        ("not-reproduced", "error,confirmed", 0),
        ("harness-error", "confirmed", 0),
        ("untested-needs-device", "confirmed", 0),
    ],
)
def test_fail_on_confirmed(check: Check, verdict: str, fail_on: str, code: int) -> None:
    device = "" if verdict.startswith("untested") else "gpu"
    file = keep("ours.json", seen(BINCOUNT, verdict, device))
    assert check("--evidence", file, "--fail-on", fail_on).code == code


def test_that_an_op_raises_is_confirmed_by_an_exception_alone(check: Check) -> None:
    Path("train.py").write_text(PROGRAM.replace("x =", "tf.config.experimental.enable_op_determinism()\nx ="))
    assert [one["rule"] for one in check("--format", "json").json["findings"]] == ["op-raises"]
    varies = keep("varies.json", seen(BINCOUNT, "confirmed"))
    raises = keep("raises.json", seen(BINCOUNT, "det-mode-raises"))
    assert check("--evidence", varies, "--fail-on", "confirmed").code == 0
    assert check("--evidence", raises, "--fail-on", "confirmed").code == 1


@pytest.mark.parametrize(("mode", "code"), [("det-mode-leaks", 1), ("not-run", 1), ("det-mode-fixes", 0)])
def test_that_no_switch_cures_it_is_not_confirmed_where_one_did(d9mlint: Check, mode: str, code: int) -> None:
    Path("train.py").write_text(PROGRAM)
    machine = environment(version="2.4.1", gpus=["A"])
    file = keep("ours.json", seen(BINCOUNT, "confirmed", deterministic_mode=mode), **machine)
    ran = d9mlint("train.py", "--target", "tensorflow==2.4.1", "--evidence", file, "--fail-on", "confirmed")
    assert "no switch of TensorFlow 2.4.1 changes that" in ran.out
    assert ran.code == code


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fail-on", "confirmed"], "--fail-on confirmed needs --evidence FILE"),
        (["--fail-on", "confirmd"], "'confirmd' is not one of info, warning, error, confirmed"),
        (["--fail-on", "error,warning"], "is not one of"),
        (["--fail-on", ""], "is not one of"),
        (["--evidence", "gone.json"], "gone.json: not a file of evidence: no such file"),
        (["--evidence", "train.py"], "train.py: not a file of evidence: cannot be read as JSON"),
    ],
)
def test_wrong_words_are_2(check: Check, words: list[str], said: str) -> None:
    ran = check(*words)
    assert ran.code == 2
    assert said in " ".join(ran.err.split())


def test_a_broken_file_is_2_even_where_nothing_would_use_it(d9mlint: Check) -> None:
    Path("clean.py").write_text("print(1)\n")
    Path("bad.json").write_text('{"schema": 1, "environment": {"cores": 2}, "evidence": [{"framework": "torch"}]}')
    ran = d9mlint("clean.py", "--evidence", "bad.json")
    assert (ran.code, ran.out) == (2, "")
    assert "bad.json: not a file of evidence: evidence[0].device: missing" in ran.err


CROP = """\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.Variable(tf.random.normal([1, 32, 32, 8]))
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.image.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]], [0], [64, 64]))
print(tape.gradient(y, x))
"""


def test_the_projects_own_evidence_comes_second_and_moves_nothing(d9mlint: Check) -> None:
    Path("train.py").write_text(CROP)
    words = ("train.py", "--device", "cpu", "--target", "tensorflow==2.21.0", "--format", "json")
    first, second = d9mlint(*words).json["findings"]
    assert "evidence" not in first
    assert (second["line"], second["confirmed"]) == (6, False)
    assert all(one["own"] and not one["confirms"] for one in second["evidence"])
    assert second["evidence"][0]["text"].startswith("d9mlint's own evidence: observed on CPU")
    file = keep("ours.json", seen(second["ops"][0], "not-reproduced", "cpu"), **environment())
    assert d9mlint(*words, "--evidence", file, "--fail-on", "confirmed").code == 0
    after = d9mlint(*words, "--evidence", file).json["findings"][1]
    assert [one["own"] for one in after["evidence"]] == [False, *(True for _ in second["evidence"])]
    gpu = d9mlint("train.py", "--target", "tensorflow==2.21.0", "--format", "json").json["findings"]
    assert not any("evidence" in one for one in gpu)


def test_suppressed_findings_stay_suppressed(check: Check) -> None:
    file = keep("ours.json", seen(BINCOUNT, "confirmed"))
    Path("train.py").write_text(PROGRAM.rstrip("\n") + "  # d9m: ignore[nondeterministic-op] only a print\n")
    assert check("--evidence", file, "--fail-on", "confirmed").code == 0


def test_explain_lists_all_of_the_users_first(d9mlint: Check) -> None:
    keep("a.json", seen(BINCOUNT, "not-reproduced"))
    keep("b.json", seen(BINCOUNT, "confirmed"))
    out = d9mlint("explain", BINCOUNT, "--evidence", "a.json", "--evidence", "b.json").out
    lines = [line for line in out.partition("## Seen by")[2].splitlines() if line.startswith("- ")]
    assert "199 of 200" in lines[0]
    assert lines[0].endswith("[b.json]")
    assert lines[1].endswith("[a.json]")
    assert lines[2].endswith(".json]") and "[rules/evidence/cpu-" in lines[2]


def test_explain_knows_ops_that_only_verify_has(d9mlint: Check) -> None:
    out = d9mlint("explain", "torch.Tensor.put_ with accumulate=False").out
    assert "deterministic mode raises an error" in out


def test_what_a_cpu_shows_of_an_entry_about_gpus_confirms_the_one_about_cpus(d9mlint: Check) -> None:
    Path("train.py").write_text(PROGRAM)
    file = keep("ours.json", seen(BINCOUNT, "det-mode-leaks", "cpu"), **environment(version="2.21.0"))
    words = ("check", "train.py", "--device", "cpu", "--target", "tensorflow==2.21.0", "--evidence", file)
    (found,) = d9mlint(*words, "--format", "json").json["findings"]
    assert (found["line"], found["confirmed"]) == (7, True)
    Path("train.py").write_text(PROGRAM.replace("weights=x", "weights=tf.ones([65536], tf.int32)"))
    assert d9mlint(*words, "--format", "json").json["findings"] == []  # integers are exact in any order
