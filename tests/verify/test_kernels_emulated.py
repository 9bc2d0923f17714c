"""Real compilers, real kernels: what the emulator says of the order of threads, and what faults cost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import validate

from d9mlint.catalogue.schema.launches import read_launches
from d9mlint.kernels.source.device import device_text, quoted_includes
from d9mlint.model import Evidence
from d9mlint.model.evidence import EMULATED, HARNESS, NOT_REPRODUCED, UNTESTED
from d9mlint.model.kernel_launch import KernelLaunch, Operand
from d9mlint.verify.kernels import build, execute, ptx
from d9mlint.verify.kernels.build import host_compiler, why_not_emulated
from d9mlint.verify.kernels.execute import Settings, executed
from d9mlint.verify.kernels.mirror import Reader
from d9mlint.verify.kernels.probes import PROBES

KERNELS = Path(__file__).parent / "kernels"
READER = Reader(device_text, quoted_includes)
pytestmark = pytest.mark.skipif(bool(why_not_emulated()), reason=why_not_emulated() or "-")


def ran(*launches: KernelLaunch, **settings: Any) -> dict[str, Evidence]:
    given = {"device": "cpu", "python": sys.executable, "runs": 12, "timeout": 60.0, **settings}
    return {one.case.op: one for one in executed(launches, READER, Settings(**given))}


def plain(kernel: str, *arguments: Operand, **more: Any) -> KernelLaunch:
    given = {"grid": (8,), "block": (128,), "source": str(KERNELS / "plain.cu"), **more}
    return KernelLaunch(kernel, kernel, arguments=arguments, **given)


def buffer(name: str, *shape: int, **more: Any) -> Operand:
    return Operand(name, shape=shape, **more)


VALUES, SUMS = buffer("values", 1024), buffer("sums", 32, values="zeros", output=True)
CELLS = buffer("cells", 1024, dtype="int32", values="index", high=16.0)

EXPECTED = {
    "float-accumulate": EMULATED, "double-accumulate": EMULATED, "integer-add": NOT_REPRODUCED,
    "max-min": NOT_REPRODUCED, "bitwise": NOT_REPRODUCED, "ticket": NOT_REPRODUCED, "slot-allocation": EMULATED,
    "cas-add": EMULATED, "cas-integer-add": NOT_REPRODUCED, "cas-max": NOT_REPRODUCED, "exchange": EMULATED, "first-wins": EMULATED, "lock": EMULATED,
}  # fmt: skip


def test_the_probes() -> None:
    found = ran(*read_launches(PROBES))
    assert {name: one.verdict for name, one in found.items()} == EXPECTED
    assert found["float-accumulate"].differing
    assert 0 < (found["float-accumulate"].max_relative or 0) < 1e-4
    assert found["integer-add"].bound is not None


@pytest.mark.slow
def test_kernels_without_atomics() -> None:
    found = ran(
        plain(
            "store", VALUES, CELLS, buffer("last", 16, values="zeros", output=True), Operand("n", "int32", value=1024)
        ),
        plain("tree", VALUES, SUMS),
        plain("unsynchronized", VALUES, SUMS),
        plain("shuffles", VALUES, SUMS),
        plain("dynamic", VALUES, SUMS, shared=512),
        plain("counted", VALUES, SUMS),
    )
    assert {name: one.verdict for name, one in found.items()} == {
        "store": EMULATED, "tree": NOT_REPRODUCED, "unsynchronized": EMULATED, "shuffles": NOT_REPRODUCED,
        "dynamic": NOT_REPRODUCED, "counted": NOT_REPRODUCED,
    }  # fmt: skip


@pytest.mark.slow
def test_faults_cost_only_themselves() -> None:
    out, flag = buffer("out", 8, values="zeros", output=True), buffer("flag", 1, dtype="int32", values="zeros")
    clock = buffer("out", 8, dtype="int64", values="zeros", output=True)
    given = {"source": str(KERNELS / "faults.cu"), "grid": (1,), "block": (8,)}
    doubles = clock._replace(dtype="float64")
    wrong = plain("outside", doubles, Operand("n", "int32", value=0), **given)._replace(name="dtype")
    found = ran(
        plain("endless", flag, flag._replace(name="out", output=True), **given),
        plain("outside", out, Operand("n", "int32", value=4096), **given),
        plain("reads_the_clock", clock, **given),
        wrong,
        plain("fine", out, **given),
        timeout=3.0,
    )
    assert found["fine"].verdict == NOT_REPRODUCED
    said = {name: one.note for name, one in found.items() if one.verdict == HARNESS and not one.runs}
    assert sorted(said) == ["dtype", "endless", "outside", "reads_the_clock"]
    assert "gave no answer within 3 s" in said["endless"]
    assert "touched memory that is not its own" in said["outside"]
    assert "not a matter of the order" in said["reads_the_clock"]
    assert "dtype is not that of the kernel's parameter" in said["dtype"]


@pytest.mark.slow
def test_what_does_not_compile_costs_only_itself() -> None:
    out = buffer("out", 8, values="zeros", output=True)
    given = {"source": str(KERNELS / "faults.cu"), "grid": (1,), "block": (8,)}
    found = ran(plain("absent", out, **given), plain("fine", out, **given))
    assert found["fine"].verdict == NOT_REPRODUCED
    assert found["absent"].verdict == HARNESS
    assert "does not compile" in found["absent"].note
    assert "absent" in found["absent"].note


def test_host_code_and_missing_headers_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "op.cu").write_text(
        '#include <torch/extension.h>\n#include "inner.h"\n'
        "__global__ void one(float* out) { out[blockIdx.x] = two(); }\n"
        "at::Tensor run(at::Tensor x) {\n  one<<<1, 1>>>(x.data_ptr<float>());\n  return x;\n}\n"
    )
    (tmp_path / "inner.h").write_text("__device__ inline float two() { return 2; }\nat::Tensor run(at::Tensor x);\n")
    launch = plain("one", buffer("out", 8, output=True), source=str(tmp_path / "op.cu"))
    found = ran(launch)["one"]
    assert found.verdict == NOT_REPRODUCED
    assert "torch/extension.h" in found.note


def test_without_a_compiler_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    assert host_compiler() is None
    found = ran(plain("tree", VALUES, SUMS))["tree"]
    assert found.verdict == UNTESTED
    assert "no C++ compiler" in found.note


def test_without_a_gpu_one_that_was_asked_for_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "has_gpu", lambda: False)
    assert ran(plain("tree", VALUES, SUMS), device="gpu")["tree"].verdict == UNTESTED


SOURCE = """\
__global__ void add(const float* x, const int* i, float* o, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n) atomicAdd(&o[i[t]], x[t]);
}
__global__ void count(const int* i, int* o, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n) atomicAdd(&o[i[t]], 1);
}
"""
SPEC = """\
kernels:
  - kernel: add
    source: k.cu
    grid: 4
    block: 64
    arguments:
      x: {dtype: float32, shape: [256]}
      i: {dtype: int32, shape: [256], values: index, below: 8}
      o: {dtype: float32, shape: [8], values: zeros, output: true}
      n: {dtype: int32, value: 256}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc" / "k.cu").write_text(SOURCE)
    (tmp_path / "csrc" / "k.yaml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.mark.slow
def test_the_command(project: Path, d9mlint: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ptx, "at_hand", lambda: False)
    words = ("verify", "--kernels", "csrc", "--runs", "8", "--device", "cpu", "--record", "kept.json")
    text = d9mlint(*words, "--spec", "csrc/k.yaml")
    assert text.code == 1
    assert "this executes code from the sources that the specification names" in text.err
    assert "order-dependent (emulated) add" in text.out
    assert "csrc/k.cu:3 float-accumulate, can vary: yes; this kernel: add: order-dependent (emulated)" in text.out
    assert "1 site without evidence of its own (--spec gives it):" in text.out
    assert (
        "commutative-exact, can vary: no; probe integer-add: not-reproduced; 1 site: csrc/k.cu:7"
        in text.out.replace("\n      ", " ")
    )
    kept = json.loads(Path("kept.json").read_text())
    validate(kept, "verify")
    assert kept["label"].startswith("CPU (emulated kernels)")
    assert kept["kernels"]["probes"] == ["float-accumulate", "integer-add"]
    assert [(site["line"], site["probe"], site["kernels"]) for site in kept["kernels"]["sites"]] == [
        (3, "float-accumulate", ["add"]),
        (7, "integer-add", []),
    ]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_ptx_of_a_flagged_file(project: Path, d9mlint: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("verify", "--kernels", "csrc", "--runs", "5", "--device", "cpu", "--format", "json")
    (file,) = json.loads(d9mlint(*words).out)["kernels"]["ptx"]
    (entry, _) = file["entries"]
    assert entry["entry"].startswith("add(")
    assert list(entry["instructions"].values()) == [1]
    assert ".add.f32" in next(iter(entry["instructions"]))
    Path("csrc/k.cu").write_text("#include <gone.h>\n" + SOURCE)
    (file,) = json.loads(d9mlint(*words).out)["kernels"]["ptx"]
    assert "gone.h" in file["problem"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--kernels", "gone"], "path not found"),
        (["--spec", "csrc/k.yaml"], "--spec goes with --kernels"),
        (["--kernels", "--all"], "--kernels goes with"),
        (["--kernels", "csrc", "--spec", "gone.yaml"], "gone.yaml: catalogue file not found"),
    ],
)
def test_usage_errors(project: Path, d9mlint: Callable[..., Any], words: list[str], said: str) -> None:
    ended = d9mlint("verify", *words)
    assert ended.code == 2
    assert said in ended.err


def test_a_name_of_a_probe_is_taken(project: Path, d9mlint: Callable[..., Any]) -> None:
    Path("csrc/k.yaml").write_text(SPEC.replace("- kernel", "- name: ticket\n    kernel"))
    ended = d9mlint("verify", "--kernels", "csrc", "--spec", "csrc/k.yaml")
    assert ended.code == 2
    assert "is the name of a probe" in ended.err


@pytest.mark.slow
def test_ctrl_c_leaves_a_partial_report(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from d9mlint.app.verify import kernels as app
    from d9mlint.app.verify.plan import VerifyOptions

    class Stop:
        def now(self, name: str) -> None:
            pass

        def end(self) -> None:
            raise KeyboardInterrupt

    options = VerifyOptions(path=Path("csrc"), runs=5, device="cpu")
    state = app.VerifyingKernels(app.planned(options, Path("csrc/k.yaml"), ()))
    report = app.verify(state, options, Stop()).report()
    assert [one.case.op for one in report.evidence.evidence] == ["add"]
    assert [one.op for one in report.evidence.unfinished] == ["float-accumulate", "integer-add"]


def test_a_job_that_is_ended_leaves_a_partial_report_and_no_folder(tmp_path: Path) -> None:
    compiler, folder = tmp_path / "cxx", tmp_path / "temporary"
    compiler.write_text("#!/bin/sh\nexec sleep 60\n")
    compiler.chmod(0o755)
    folder.mkdir()
    command = [sys.executable, "-m", "d9mlint", "verify", "--kernels", "--device", "cpu", "--output", "report.json"]
    env = {**os.environ, "CXX": str(compiler), "TMPDIR": str(folder)}
    job = subprocess.Popen([*command, "--format", "json"], cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True)
    assert job.stderr is not None
    job.stderr.readline()  # it is about to begin
    while not any(folder.glob("d9mlint-*")):
        assert job.poll() is None
        time.sleep(0.1)
    job.terminate()
    assert job.wait(30) == 3
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["partial"], report["stopped"], len(report["unfinished"])) == (True, "interrupted", len(EXPECTED))
    assert not any(folder.glob("d9mlint-*"))


@pytest.mark.slow
def test_variables_without_a_value_are_not_a_matter_of_order() -> None:
    command = (host_compiler() or "", build._ZEROED, "-fsyntax-only", "-x", "c++", os.devnull)
    if build.ran(command, 20)[0] != 0:
        pytest.skip("an old compiler")
    assert ran(plain("unset", VALUES, SUMS))["unset"].verdict == NOT_REPRODUCED


@pytest.mark.parametrize(
    "answer",
    [{}, {"results": []}, {"results": "x"}, {"results": [0], "distinct": None}, {"raised": "boom"}, {"results": [[]]}],
)
def test_an_answer_that_is_none_is_no_evidence(answer: dict[str, Any]) -> None:
    found = execute._judged(plain("tree", VALUES, SUMS), answer, gpu=False)
    assert found.verdict == HARNESS
    assert found.note in ("boom", "the program wrote something that is no answer")
