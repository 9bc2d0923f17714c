"""Frameworks that need a GPU, modes that there are not, and the environment that children are given."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from support import PLAIN, case, executed

from d9mlint.model import Case, Observation
from d9mlint.verify.judge import judged
from d9mlint.verify.process import SCRIPT, Child
from d9mlint.verify.run import Machine, Observed, Settings, has_mode, observe

NEEDS_GPU = Case(op="atomics", framework="cupy", direction="forward", run="1", devices=("gpu",))


@pytest.mark.parametrize("framework", ["cupy", "triton"])
def test_frameworks_for_gpus_need_no_package_to_say_that_there_is_none(
    d9mlint: Callable[..., Any], framework: str
) -> None:
    ran = d9mlint("verify", "--all", "--framework", framework, "--device", "cpu", "--format", "json")
    assert ran.code == 3
    assert {one["verdict"] for one in ran.json["evidence"]} == {"untested-needs-device"}
    assert "nothing was executed" in ran.json["stopped"]


def test_without_a_gpu_the_missing_package_is_not_the_trouble() -> None:
    if Path("/proc/driver/nvidia/version").exists():
        pytest.skip("this machine has an NVIDIA driver")
    with Machine("cupy", Settings((sys.executable, str(SCRIPT))), ("gpu",)) as machine:
        (seen,) = observe([NEEDS_GPU], machine)
    assert judged(seen).verdict == "untested-needs-device"
    assert "needs a GPU" in judged(seen).note


@pytest.mark.parametrize(
    ("framework", "device", "has"),
    [
        ("torch", "cpu", True),
        ("torch", "gpu", True),
        ("jax", "gpu", True),
        ("jax", "cpu", False),
        ("cupy", "gpu", False),
    ],
)
def test_who_has_a_deterministic_mode(framework: str, device: str, has: bool) -> None:
    assert has_mode(framework, device) is has


def test_a_framework_without_a_deterministic_mode_is_not_said_to_leak() -> None:
    varying = Observation("default", 0, (0, 1, 2), ("a", "b", "c"), elements=16, inputs="x")
    seen = Observed(Case(op="op", framework="numba", direction="forward", run="1"), "cpu", (varying,))
    found = judged(seen)
    assert found.verdicts == ("confirmed",)
    assert found.deterministic_mode == "not-run"
    assert "numba has no deterministic mode for the CPU" in found.note


def test_a_gpu_needs_no_single_thread_to_show_uninitialised_memory() -> None:
    default = Observation("default", 0, (0, 1, 2), ("a", "b", "c"), elements=16, inputs="x")
    filled = Observation("deterministic", 0, (0, 0, 0), ("n",), elements=16, inputs="x", nan=16)
    about = Case(op="op", framework="torch", direction="forward", run="1")
    assert judged(Observed(about, "gpu", (default, filled))).verdict == "reads-uninitialised"
    assert judged(Observed(about, "cpu", (default, filled))).verdict == "confirmed"


def test_determinism_flags_of_xla_are_compared_and_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = "--xla_dump_to=x --xla_gpu_deterministic_ops=true --xla_gpu_exclude_nondeterministic_ops"
    monkeypatch.setenv("XLA_FLAGS", flags)
    (found,) = executed(case("me.fail(os.environ['XLA_FLAGS'])"))
    assert found.note == "the op raised RuntimeError: --xla_dump_to=x"


def test_inputs_are_as_large_as_the_device_wants_them() -> None:
    from d9mlint.model import Input
    from d9mlint.verify.run import plain

    grown = Case(op="op", framework="plain", direction="forward", run="x", inputs=(Input("x", (64, 4), scaled=(0,)),),
                 scale={"gpu": 16})  # fmt: skip
    assert plain(grown, "cpu")["inputs"][0]["shape"] == (64, 4)
    assert plain(grown, "gpu")["inputs"][0]["shape"] == (1024, 4)
    json.dumps(plain(grown, "gpu"))


def test_functions_of_a_case_are_called_and_their_text_is_found() -> None:
    source = "def twice(values):\n    return [2 * one for one in values]\n"
    defined = Case(op="op", framework="plain", direction="forward", run="twice([1.0, 2.0])", define=source)
    text = Case(op="text", framework="plain", direction="forward", define=source,
                run="me.fail(__import__('inspect').getsource(twice))")  # fmt: skip
    good, told = executed(defined, text)
    assert good.verdict == "not-reproduced"
    assert "return [2 * one for one in values]" in told.note


def test_modules_of_the_child_do_not_stand_in_for_others() -> None:
    names = {path.stem for path in (ROOT / "d9mlint" / "verify" / "child").rglob("*.py")}
    assert {"torch", "tensorflow", "running"} <= names  # names that the framework's own must win against
    start = {"do": "start", "framework": "torch", "threads": 1, "mode": "default", "device": "cpu"}
    with Child((sys.executable, "-S", str(SCRIPT)), {}, 2**33) as child:
        assert child.ask(start, 60)["raised"] == "ModuleNotFoundError: No module named 'torch'"


def test_the_child_uses_nothing_of_d9mlint() -> None:
    for path in sorted((ROOT / "d9mlint" / "verify" / "child").rglob("*.py")):
        assert "d9mlint." not in path.read_text(encoding="utf-8"), path
    with Child((sys.executable, "-I", "-S", str(PLAIN)), {}, 2**33) as child:
        start = {"do": "start", "framework": "plain", "threads": 1, "mode": "default", "device": "cpu"}
        assert child.ask(start, 60)["versions"] == {"plain": "1"}


def bare(folder: Path) -> str:
    """An interpreter without any package."""
    script = folder / "bare-python"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    script.chmod(0o755)
    return str(script)


def test_with_all_frameworks_that_are_not_installed_are_named_once(d9mlint: Callable[..., Any], tmp_path: Path) -> None:
    ran = d9mlint("verify", "--all", "--device", "cpu", "--python", bare(tmp_path), "--format", "json")
    assert ran.code == 3
    assert ran.json["stopped"] == "the interpreter has none of the frameworks"
    reasons = {one["op"]: one["reason"] for one in ran.json["unexecuted"]}
    assert "No module named 'torch'" in reasons["torch"]
    assert {one["verdict"] for one in ran.json["evidence"]} <= {"untested-needs-device"}


def test_a_framework_that_is_asked_for_and_not_installed_is_a_failure(
    d9mlint: Callable[..., Any], tmp_path: Path
) -> None:
    options = ("--op", "torch.Tensor.index_add_", "--device", "cpu", "--python", bare(tmp_path), "--format", "json")
    ran = d9mlint("verify", *options)
    assert ran.code == 3
    assert {one["verdict"] for one in ran.json["evidence"]} == {"harness-error"}
