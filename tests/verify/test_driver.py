"""The way to a GPU, with a driver layer that tells what it is told to: no GPU is used, and nothing is said of one."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support import PLAIN, case

from d9mlint.model import Evidence, EvidenceReport
from d9mlint.report.evidence import words
from d9mlint.verify.child import machine as driver
from d9mlint.verify.judge import judged
from d9mlint.verify.process import Child
from d9mlint.verify.run import Machine, Settings, observe
from d9mlint.verify.surroundings import environment, removed

COMPILER = shutil.which("cc")


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if COMPILER is None:
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("driver")
    source = Path(__file__).with_name("fake_nvml.c")
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", str(folder / "libnvidia-ml.so.1"), str(source)], check=True)
    return folder


@pytest.fixture
def gpus(library: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets what the driver answers, for children and for this process."""
    import ctypes

    opened = ctypes.CDLL

    def fake(name: str) -> Any:
        return opened(str(library / name) if name == "libnvidia-ml.so.1" else name)

    monkeypatch.setattr(driver.ctypes, "CDLL", fake)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def answers(**told: object) -> None:
        for name, value in told.items():
            monkeypatch.setenv(name, str(value))

    return answers


def ran(run: str = "1.0", device: str = "auto", framework: str = "plain") -> tuple[Machine, Evidence]:
    asked = Settings((sys.executable, str(PLAIN)), device, runs=6, seconds=0.2, patience=0.0, timeout=20.0)
    with Machine(framework, asked) as machine:
        (seen,) = observe([case(run)], machine)
    return machine, judged(seen)


def test_a_gpu_is_taken_where_there_is_one_and_the_card_is_told(gpus: Any) -> None:
    gpus(FAKE_GPUS=2, PLAIN_GPUS=2, FAKE_MIG=1)
    machine, found = ran()
    assert (machine.device, found.device, found.verdict) == ("gpu", "gpu", "not-reproduced")
    assert machine.environment["versions"]["driver"] == "999.1"
    cards = machine.environment["cards"]
    assert [card["name"] for card in cards] == ["Fake 0", "Fake 1"]
    assert cards[0] == {"number": 0, "name": "Fake 0", "exclusive": False, "mig": True}


def test_other_settings_of_a_gpu_are_tried(gpus: Any) -> None:
    gpus(FAKE_GPUS=1, PLAIN_GPUS=1)
    _, found = ran("float(me.next()) if me.start['variant'] == 'benchmark' else 1.0", framework="torch")
    assert found.verdict == "confirmed"
    assert {one.variant for one in found.tallies} == {"", "benchmark", "tf32", "no-tf32"}
    assert {one.variant for one in found.tallies if one.differing} == {"benchmark"}


def test_where_a_gpu_serves_one_process_they_take_turns(gpus: Any, tmp_path: Path) -> None:
    gpus(FAKE_GPUS=1, PLAIN_GPUS=1, FAKE_MODE=3, PLAIN_LOCK=tmp_path / "taken")
    machine, found = ran()
    assert machine.alone
    assert (found.device, found.verdict, found.processes) == ("gpu", "not-reproduced", 2)
    assert found.overhead is None  # two processes cannot be held against each other


def test_a_gpu_that_cannot_be_used_is_left_and_that_is_told(gpus: Any) -> None:
    gpus(FAKE_GPUS=1, PLAIN_GPUS=1, PLAIN_BROKEN=1)
    machine, found = ran()
    assert (machine.device, found.device) == ("cpu", "cpu")
    assert "CUDA initialization failed" in machine.environment["unused"]


def test_a_gpu_that_one_process_has_already_is_left_and_that_is_told(gpus: Any, tmp_path: Path) -> None:
    gpus(FAKE_GPUS=1, PLAIN_GPUS=1, FAKE_MODE=3, PLAIN_LOCK=tmp_path / "taken")
    with (tmp_path / "taken").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        machine, found = ran()
    assert (found.device, found.verdict) == ("cpu", "not-reproduced")
    assert "the GPU could not be used: cannot start plain" in machine.environment["unused"]


def test_an_error_that_a_gpu_does_not_get_over_costs_its_case_alone(gpus: Any) -> None:
    gpus(FAKE_GPUS=1, PLAIN_GPUS=1)
    asked = Settings((sys.executable, str(PLAIN)), "gpu", runs=6, seconds=0.2, patience=0.0, timeout=20.0)
    with Machine("plain", asked) as machine:
        found = [judged(one) for one in observe([case("me.poison()", "first"), case("1.0", "second")], machine)]
    assert [one.verdict for one in found] == ["harness-error", "not-reproduced"]
    assert "device-side assert" in found[0].note


def test_a_build_for_cpus_on_a_machine_with_a_gpu_is_told(gpus: Any) -> None:
    gpus(FAKE_GPUS=1, PLAIN_CPU_BUILD=1)
    machine, found = ran()
    assert found.device == "cpu"
    assert "this build of the framework is for CPUs" in machine.environment["unused"]
    machine, found = ran(device="gpu")
    assert found.verdict == "untested-needs-device"
    assert "this build of the framework is for CPUs" in found.note


def test_a_driver_that_does_not_answer_is_told(gpus: Any) -> None:
    gpus(FAKE_GPUS=1, FAKE_FAILS=18)
    assert driver.trouble() == "the NVIDIA driver does not answer: Driver/library version mismatch"
    _, found = ran(device="gpu")
    assert "the NVIDIA driver does not answer: Driver/library version mismatch" in found.note


@pytest.mark.parametrize(
    ("device", "told"),
    [("gpu", "card, the first of 2 GPUs"), ("gpu:1", "card (CUDA_VISIBLE_DEVICES=1), the first of 2 GPUs")],
)
def test_the_card_that_was_used_is_in_the_evidence(gpus: Any, device: str, told: str) -> None:
    gpus(FAKE_GPUS=2, PLAIN_GPUS=2)  # (the stand-in does not hide cards)
    machine, found = ran(device=device)
    assert machine.environment["used"] == {"name": "card", "visible": device.partition(":")[2] or None}
    report = EvidenceReport((found,), {"cpu": "X", "cores": 2, "system": "Linux", "plain": machine.environment})
    assert told in words.machine(report)


def test_one_of_several_cards(gpus: Any) -> None:
    gpus(FAKE_GPUS=2, PLAIN_GPUS=2)
    _, found = ran("me.fail(os.environ['CUDA_VISIBLE_DEVICES'])", device="gpu:1")
    assert found.note == "the op raised RuntimeError: 1"


@pytest.mark.parametrize(
    ("device", "shell", "visible"),
    [
        ("gpu", {}, None),
        ("gpu", {"CUDA_VISIBLE_DEVICES": "3"}, "3"),
        ("gpu:1", {}, "1"),
        ("gpu:1", {"CUDA_VISIBLE_DEVICES": "4, 6"}, "6"),
        ("gpu:2", {"CUDA_VISIBLE_DEVICES": "4,6"}, "-1"),
        ("gpu:MIG-12ab", {"CUDA_VISIBLE_DEVICES": "0"}, "MIG-12ab"),
        ("cpu", {"CUDA_VISIBLE_DEVICES": "0"}, "-1"),
    ],
)
def test_which_card_a_child_sees(device: str, shell: Mapping[str, str], visible: str | None) -> None:
    assert environment(device, shell).get("CUDA_VISIBLE_DEVICES") == visible


def test_switches_of_the_shell_are_compared_and_not_inherited() -> None:
    shell = {
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8", "NVIDIA_TF32_OVERRIDE": "0", "TF_DETERMINISTIC_OPS": "1", "HOME": "/h",
        "XLA_FLAGS": "--xla_dump_to=x --xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0", "PYTHONHASHSEED": "0",
        "TORCHINDUCTOR_MAX_AUTOTUNE": "1", "MKL_CBWR": "AVX2",
    }  # fmt: skip
    env = environment("gpu", shell)
    assert {name: env[name] for name in shell if name in env and name != "PYTHONHASHSEED"} == {
        "HOME": "/h", "XLA_FLAGS": "--xla_dump_to=x",
    }  # fmt: skip
    assert env["PYTHONHASHSEED"] != environment("gpu", shell)["PYTHONHASHSEED"]
    assert sorted(removed(shell)) == [
        "CUBLAS_WORKSPACE_CONFIG", "MKL_CBWR", "NVIDIA_TF32_OVERRIDE", "TF_DETERMINISTIC_OPS",
        "TORCHINDUCTOR_MAX_AUTOTUNE", "XLA_FLAGS",
    ]  # fmt: skip
    assert removed({"HOME": "/h"}) == {}


def test_a_paused_process_waits_and_goes_on() -> None:
    start = {"do": "start", "framework": "plain", "threads": 1, "mode": "default", "device": "cpu"}
    with Child((sys.executable, str(PLAIN)), {}, 2**33) as child:
        child.ask(start, 20)
        child.pause(True)
        child.send(start)
        stat = Path(f"/proc/{child._process.pid}/stat")
        end = time.monotonic() + 20
        while stat.read_text().rpartition(")")[2].split()[0] != "T":
            assert time.monotonic() < end
        child.pause(False)
        assert child.receive(20)["versions"] == {"plain": "1"}
