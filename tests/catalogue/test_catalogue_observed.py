"""Evidence that is kept, as `d9mlint explain` tells it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from d9mlint.catalogue.observed import observed
from d9mlint.model import Case, CatalogueError, Evidence, EvidenceReport
from d9mlint.report.evidence.record import record

CASE = Case(op="tf.math.bincount", framework="tensorflow", direction="forward", run="1", name="with weights")


def keep(folder: Path, *evidence: Evidence) -> None:
    environment = {"cpu": "Xeon", "cores": 2, "tensorflow": {"versions": {"tensorflow": "2.21.0"}, "gpus": []}}
    import datetime

    text = record(EvidenceReport(evidence, environment), datetime.date(2026, 11, 21))
    (folder / "cpu.json").write_text(text)


def test_a_line_for_each_verdict(tmp_path: Path) -> None:
    seen = Evidence(CASE, "cpu", "det-mode-leaks", runs=100, differing=60, deterministic_mode="det-mode-leaks")
    keep(tmp_path, seen, Evidence(CASE, "", "untested-needs-device"))
    assert observed("tf.math.bincount", tmp_path) == [
        "CPU (Xeon, 2 cores), tensorflow 2.21.0, with weights forward eager float32: det-mode-leaks, 60 of 100 runs "
        "differ; deterministic mode does not cure it (2026-11-21)"
    ]
    assert observed("tf.gather", tmp_path) == []
    assert (
        json.loads((tmp_path / "cpu.json").read_text())["label"]
        == "CPU evidence; says nothing of other devices or builds"
    )


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "cpu.json").write_text("{}")
    with pytest.raises(CatalogueError, match=r"cpu\.json:1: not a file of evidence"):
        observed("tf.gather", tmp_path)
