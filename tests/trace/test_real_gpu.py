"""Programs whose cause is one of a GPU: where there is one they part at the marked line; elsewhere all they do is run.

What they need of a GPU goes through the same code on the CPU: kernels of Triton by its interpreter, lengths of the CTC
loss, whole numbers without extremes. `benchmarks/planted.py --frameworks cuda,cuda_jax` tells how often the line is
named on a GPU; docs/trace.md says what it told on which.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from planted import assert_named, interpreter, located, programs

from d9mlint.trace.recording import Recording
from d9mlint.trace.run import OPS, Conditions, Program, Settings, run

pytestmark = pytest.mark.slow
ALL = bool(os.environ.get("D9MLINT_TRACE_ALL"))
TRIED = programs("cuda") if ALL else []

KERNEL = """\
import torch
import triton
import triton.language as tl


@triton.jit
def doubled(out, values, count, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + place, 2 * tl.load(values + place, mask=place < count, other=0.0), mask=place < count)


values = torch.ones(8) * 3
out = torch.empty(8)
doubled[(1,)](out, values, 8, BLOCK=8)
print(out.sum().item())
"""
STATES = """\
import torch
state = torch.arange(3).to(torch.uint64)
print(torch.stack([state, state]).shape, torch.cat([state.to(torch.uint16)]).shape)
"""


@pytest.fixture(scope="module")
def python() -> str:
    """An interpreter that has PyTorch; the test is skipped where there is none."""
    return interpreter("torch")


def has_gpu(python: str) -> bool:
    code = "import torch; raise SystemExit(not torch.cuda.is_available())"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def recorded(python: str, folder: Path, text: str) -> Recording:
    (folder / "program.py").write_text(text, encoding="utf-8")
    program = Program(python, ("program.py",), (), (str(folder),))
    ran = run(program, Settings(0), Conditions(OPS), 0, 120)
    assert ran.whole, ran.ended
    assert ran.recording.notes == ()
    return ran.recording


@pytest.mark.parametrize("path", TRIED, ids=lambda path: path.stem)
def test_the_planted_cause_is_named(python: str, path: Path) -> None:
    if not has_gpu(python):
        pytest.skip("no GPU here")
    assert_named(python, path)


@pytest.mark.parametrize("path", TRIED, ids=lambda path: path.stem)
def test_the_cured_twin_has_no_culprit(python: str, path: Path) -> None:
    assert located(python, path, "--fixed") == ()


def test_a_kernel_of_triton_is_an_op(python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if subprocess.run([python, "-c", "import triton, numpy"], capture_output=True, check=False).returncode:
        pytest.skip("no Triton here")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    events = [one for _, several in recorded(python, tmp_path, KERNEL).events for one in several if one.kind == "op"]
    (launch,) = [one for one in events if one.fields[1] == "triton doubled"]
    assert launch.place is not None
    assert launch.place[1] == 14
    assert [(one[1], one[2]) for one in launch.fields[4]] == [("float32", [8])]  # what it fills is not read
    assert len(launch.fields[5]) == 2
    total = next(one for one in events if one.fields[1].startswith("aten.sum"))
    assert total.fields[4][0][3] == launch.number  # what it takes was written by the kernel


def test_whole_numbers_without_extremes(python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    recorded(python, tmp_path, STATES)


def test_lengths_of_the_ctc_loss_are_numbers_as_without_a_recording(
    python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (path,) = [one for one in programs("cuda") if one.stem == "ctc"]
    recording = recorded(python, tmp_path, path.read_text(encoding="utf-8").replace("600", "60").replace("200", "20"))
    names = {one.fields[2] for _, several in recording.events for one in several if one.kind == "call"}
    assert "aten._ctc_loss.default" in names
    assert "aten._ctc_loss.Tensor" not in names
