"""What `benchmarks/evidence.py` makes of reports: one file a machine, named by its device, without paths."""

from __future__ import annotations

import importlib.util
import json
import sys
from types import ModuleType

import pytest
from conftest import ROOT
from evidence_files import environment, kept, seen

from d9mlint.model import EvidenceReport


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("evidence_script", ROOT / "benchmarks" / "evidence.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_reports_of_several_frameworks_become_one_gravest_first(script: ModuleType) -> None:
    one = EvidenceReport((seen("a", "confirmed"), seen("b", "not-reproduced")), environment(gpus=["NVIDIA H200"]))
    two = EvidenceReport(
        (seen("c", "det-mode-leaks", framework="torch"),), environment("torch", "2.11.0", gpus=["NVIDIA H200"])
    )
    report = script.merged([one, two])
    assert [found.case.op for found in report.evidence] == ["c", "a", "b"]
    assert {"tensorflow", "torch", "cpu", "cores"} == set(report.environment)
    assert script.file_name(report) == "gpu-nvidia-h200.json"


def test_a_cpu_is_named_with_its_cores(script: ModuleType) -> None:
    report = EvidenceReport(
        (seen("a", "confirmed", "cpu"),), environment(cpu="Intel(R) Xeon(R) Gold 6330 CPU @ 2.00GHz")
    )
    assert script.file_name(report) == "cpu-intel-xeon-gold-6330-cpu-2.00ghz-2-cores.json"


@pytest.mark.parametrize("devices", [("cpu", "gpu"), ("",)])
def test_mixed_or_no_devices_are_refused(script: ModuleType, devices: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit, match="evidence of one kind of device is wanted"):
        script.file_name(EvidenceReport(tuple(seen("a", "confirmed", device) for device in devices), environment()))


def test_paths_of_the_machine_are_left_out(script: ModuleType) -> None:
    bad = seen("a", "harness-error")._replace(
        note="ImportError: /home/me/env/lib/libx.so: bad; see https://x.org/a/b",
        raised="1/2",
    )
    (one,) = script.merged([EvidenceReport((bad,), environment())]).evidence
    assert one.note == "ImportError: libx.so: bad; see https://x.org/a/b"
    assert one.raised == "1/2"


def test_records_of_one_machine_become_one_file(script: ModuleType) -> None:
    first = kept(seen("a", "not-reproduced"), seen("b", "untested-needs-device", ""))
    first["unfinished"] = [{"op": "c / forward / eager / float32", "reason": "the time of 9 s was over"},
                           {"op": "d / forward / eager / float32", "reason": "the time of 9 s was over"}]  # fmt: skip
    other = kept(seen("a", "confirmed"), seen("c", "confirmed"), **environment("torch", "2.11.0", gpus=["NVIDIA H200"]))
    whole = script.joined([{**first, "partial": True, "stopped": "the time of 9 s was over"}, other], "in two parts")
    assert [(one["op"], one["verdict"]) for one in whole["evidence"]] == [("c", "confirmed"), ("a", "not-reproduced")]
    assert [one["op"] for one in whole["unexecuted"]] == ["d / forward / eager / float32"]
    assert {"tensorflow", "torch"} <= whole["environment"].keys()
    assert (whole["date"], whole["note"], whole["partial"], whole["stopped"]) == (
        "2026-11-21", "in two parts", False, None,
    )  # fmt: skip
    assert script.named({"gpu"}, whole["environment"]) == "gpu-nvidia-h200.json"
    with pytest.raises(SystemExit, match="records of one machine are wanted, found: Xeon, 2 cores; Xeon, 4 cores"):
        script.joined([first, kept(**{**environment(), "cores": 4})], "")


def test_the_driver_is_told_where_the_framework_does_not(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "_DRIVER", [sys.executable, "-c", "print('570.86\\n570.86')"])
    report = script.with_driver(EvidenceReport((), environment(gpus=["A"])))
    assert report.environment["tensorflow"]["versions"]["driver"] == "570.86"
    told = environment(gpus=["A"])
    told["tensorflow"]["versions"]["driver"] = "1"  # type: ignore[index]
    assert script.with_driver(EvidenceReport((), told)).environment == told


def test_no_path_is_in_what_is_kept(script: ModuleType) -> None:
    for path in sorted((ROOT / "rules" / "evidence").glob("*.json")):
        kept = json.loads(path.read_text(encoding="utf-8"))
        assert not [one for one in kept["evidence"] if script._PATH.search(one["note"] + one["raised"])]


def test_frameworks_are_found_without_importing_them(script: ModuleType) -> None:
    assert script.found_frameworks([sys.executable]).keys() <= set(script.FRAMEWORKS)
