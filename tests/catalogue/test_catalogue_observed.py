"""Files of evidence: read whole or refused with file and key; told by `d9mlint explain` and on pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import evidence_files
import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.catalogue.observed import about, own_records, read_records
from d9mlint.catalogue.render.seen import evidence_table, of_op, of_rule
from d9mlint.model import Case, CatalogueError, Evidence, Op, Record, Rule, Tally, UsageError

CASE = Case(op="tf.math.bincount", framework="tensorflow", direction="forward", run="1", name="with weights")
LEAKING = Evidence(
    CASE, "cpu", "det-mode-leaks", ("det-mode-leaks", "confirmed"), runs=100, distinct=30, differing=60,
    tallies=(Tally(0, 1, 50, 4, 11), Tally(16, 1, 50, 50, 49)), deterministic_mode="det-mode-leaks",
)  # fmt: skip
EQUAL = Evidence(CASE, "cpu", "not-reproduced", ("not-reproduced",), runs=120, distinct=1, deterministic_mode="not-run")
UNTESTED = Evidence(CASE, "", "untested-needs-device", note="the case needs a GPU")


def kept(*evidence: Evidence, **more: object) -> dict[str, Any]:
    return evidence_files.kept(*evidence, **evidence_files.environment(**more))


def write(path: Path, data: object) -> Path:
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def records(tmp_path: Path, data: object) -> tuple[Record, ...]:
    return read_records([(write(tmp_path / "e.json", data), "e.json")])


def test_a_sentence_for_each_verdict(tmp_path: Path) -> None:
    data = kept(LEAKING, EQUAL, UNTESTED)
    assert [one.told() for one in records(tmp_path, data)] == [
        "observed on CPU (Xeon, 16 threads), tensorflow 2.21.0: 49 of 50 runs differ; deterministic mode does not cure it "
        "(with weights, forward, eager, float32, 2026-11-21)",
        "not reproduced on CPU (Xeon, 2 cores), tensorflow 2.21.0: 120 equal runs, other conditions may differ "
        "(with weights, forward, eager, float32, 2026-11-21)",
        "not executed with tensorflow 2.21.0: untested-needs-device, the case needs a GPU "
        "(with weights, forward, eager, float32, 2026-11-21)",
    ]
    assert data["label"] == "CPU evidence; says nothing of other devices or builds"


def test_a_gpu_is_named(tmp_path: Path) -> None:
    environment = {"tensorflow": {"versions": {"tensorflow": "2.21.0", "cuda": "12.5"}, "gpus": ["NVIDIA H200"]}}
    (one,) = records(tmp_path, kept(Evidence(CASE, "gpu", "confirmed", runs=9, distinct=2, differing=3), **environment))
    assert one.where == "GPU (NVIDIA H200)"
    assert one.versions == (("cuda", "12.5"), ("tensorflow", "2.21.0"))
    assert "| GPU | NVIDIA H200 | tensorflow 2.21.0 (cuda 12.5) |" in evidence_table([one])


def test_several_files_are_merged_strongest_first_and_the_users_before_the_own(tmp_path: Path) -> None:
    one = write(tmp_path / "one.json", kept(EQUAL, cpu="A"))
    two = write(tmp_path / "two.json", kept(LEAKING, cpu="B"))
    (own := tmp_path / "own").mkdir()
    write(own / "cpu-x.json", kept(LEAKING))
    found = [*own_records(own), *read_records([(one, "one.json"), (two, "two.json"), (one, "one.json")])]
    assert [(x.file, x.hardware) for x in about("tf.math.bincount", found)] == [
        ("two.json", "B"), ("one.json", "A"), ("rules/evidence/cpu-x.json", "Xeon"),
    ]  # fmt: skip
    assert about("tf.gather", found) == []
    title, lines = of_op(Op("tf.math.bincount", (), "forward", ("gpu",)), found)
    assert title == "## Seen by `d9mlint verify`"
    assert [line.rpartition("[")[2] for line in lines.splitlines()] == [
        "two.json]", "one.json]", "rules/evidence/cpu-x.json]",
    ]  # fmt: skip


def test_a_rule_about_ops_tells_of_the_strongest_observation_of_each(tmp_path: Path) -> None:
    found = records(tmp_path, kept(LEAKING, EQUAL))
    facts = {"id": "D9M401", "family": "ops", "severity": "warning", "confidence": "high", "hazard": "x"}
    facts |= {"noise": "impl", "summary": "s", "why": "w", "message": "m"}
    section = "\n".join(of_rule(Rule(name="nondeterministic-op", **facts), found))
    assert "| `tf.math.bincount` | observed on CPU (Xeon, 16 threads)" in section
    assert "Nothing of the kind was seen with 1 other" in "\n".join(of_rule(Rule(name="op-raises", **facts), found))
    assert of_rule(Rule(name="unseeded-numpy", **facts), found) == []


def broken(*path: str | int, value: object = None) -> str:
    data = kept(LEAKING)
    at: Any = data
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read as JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "expected a JSON object"),
        ('{"schema": 2}', "schema: expected 1"),
        (broken("environment"), "environment: missing"),
        (broken("environment", "cores", value="two"), 'environment.cores: expected a number, got "two"'),
        (broken("environment", "tensorflow", value=3), "environment.tensorflow: expected an object, got 3"),
        (broken("evidence", value={}), "evidence: expected a list, got {}"),
        (broken("evidence", 0, value=7), "evidence[0]: expected an object"),
        (broken("evidence", 0, "op"), "evidence[0].op: missing"),
        (broken("evidence", 0, "runs", value=-1), "evidence[0].runs: expected a number, got -1"),
        (broken("evidence", 0, "runs", value=True), "evidence[0].runs: expected a number, got true"),
        (broken("evidence", 0, "verdict", value="refuted"), "evidence[0].verdict: expected one of det-mode-leaks, confirmed"),
        (broken("evidence", 0, "device", value="tpu"), 'evidence[0].device: expected one of cpu, gpu, got "tpu"'),
        (broken("evidence", 0, "threads", 1, "runs"), "evidence[0].threads[1].runs: missing"),
        (broken("date", value=["x" * 99]), 'date: expected text, got ["xxxx'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        records(tmp_path, text)
    assert str(error.value).startswith(f"e.json: not a file of evidence: {message}")


def test_a_file_that_is_not_there_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.json: not a file of evidence: no such file"):
        read_records([(tmp_path / "gone.json", "gone.json")])
    with pytest.raises(UsageError, match="not a regular file"):
        read_records([(tmp_path, "folder")])


def test_a_damaged_file_of_the_project_is_an_error_of_the_catalogue(tmp_path: Path) -> None:
    write(tmp_path / "cpu-x.json", "{}")
    assert own_records(tmp_path, ["gpu"]) == ()
    with pytest.raises(CatalogueError, match=r"rules/evidence/cpu-x\.json:1: not a file of evidence: schema"):
        own_records(tmp_path)


def test_texts_of_a_file_cannot_move_the_cursor(tmp_path: Path) -> None:
    (one,) = records(tmp_path, kept(UNTESTED, tensorflow={"versions": {"tensorflow": "\x1b[2J\n2"}, "gpus": []}))
    assert "\x1b" not in one.told()
    assert "with tensorflow \\x1b[2J 2:" in one.told()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
PATHS = st.sampled_from(
    [("environment",), ("evidence",), ("date",), ("environment", "cpu"), ("environment", "tensorflow", "versions")]
    + [("evidence", 0, key) for key in kept(LEAKING)["evidence"][0]]
    + [("evidence", 0, "threads", 0, key) for key in ("threads", "processes", "runs", "differing")]
)


@given(PATHS, JSON)
def test_any_value_at_any_key_is_read_or_refused(path: tuple[str | int, ...], value: object) -> None:
    import tempfile

    data = kept(LEAKING)
    at: Any = data
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with tempfile.TemporaryDirectory() as folder:
        file = write(Path(folder) / "e.json", data)
        try:
            found = read_records([(file, "e.json")])
        except UsageError as error:
            assert "e.json: not a file of evidence: " in str(error)
        else:
            assert all(one.told().isprintable() and one.strength for one in found)
