"""The ways of running kernels on a GPU, in order, over a driver that is not there: who is asked, and who answers."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import shutil
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from d9mlint.kernels.source.device import device_text, quoted_includes
from d9mlint.model import Evidence
from d9mlint.model.kernel_launch import KernelLaunch, Operand
from d9mlint.verify.kernels import execute
from d9mlint.verify.kernels.build import why_not_emulated
from d9mlint.verify.kernels.execute import Settings, executed
from d9mlint.verify.kernels.mirror import Reader
from d9mlint.verify.kernels.runtime import SCRIPT

FAKE = Path(__file__).with_name("fake_interpreter.py")
READER = Reader(device_text, quoted_includes)
SEEN = {"results": [0, 1, 0, 2, 0], "distinct": 3, "elements": 32, "max_ulp": 4, "max_relative": 1e-7}
GOOD = {"start": {"device": "A card"}, "observe": {**SEEN, "device": "A card"}}
REFUSED = {"start": {"device": "A card"}, "observe": {"raised": "CompileException: no such header"}}
CRASHES = {"start": {"device": "A card"}, "observe": "crash"}
BROKEN = {"start": {"raised": "CUDARuntimeError: cudaErrorInitializationError: initialization error"}}
NVCC = """#!{python}
import json, os, sys
log = open(os.environ["FAKE_LOG"], "a"); log.write("nvcc\\n"); log.close()
if {fails!r}:
    sys.exit("k.cu(3): error: " + {fails!r})
target = sys.argv[sys.argv.index("-o") + 1]
program = "#!{python}\\nimport os, sys\\nos.write(int(sys.argv[-1]), " + repr({answer!r}.encode() + b"\\n") + ")\\n"
with open(target, "w") as stream:
    stream.write(program)
os.chmod(target, 0o755)
"""


@dataclass
class Box:
    """A machine that shows a GPU: what its interpreter and its nvcc answer, and who was asked."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch

    def ran(self, *launches: KernelLaunch, device: str = "auto", **answers: object) -> list[Evidence]:
        (self.folder / "answers.json").write_text(json.dumps(answers))
        (self.folder / "log").write_text("")
        return list(executed(launches or (self.launch(),), READER, Settings(device, str(self.folder / "python"), 5)))

    def nvcc(self, answer: dict[str, Any] | None = None, fails: str = "") -> None:
        text = NVCC.format(python=sys.executable, answer=json.dumps(answer), fails=fails)
        script(self.folder / "bin" / "nvcc", text)

    def launch(self, **more: Any) -> KernelLaunch:
        buffers = (Operand("values", shape=(1024,)), Operand("cells", "int32", (1024,), "index", high=16.0))
        last = Operand("last", shape=(16,), values="zeros", output=True)
        arguments = (*buffers, last, Operand("n", "int32", value=1024))
        source = str(Path(__file__).parent / "kernels" / "plain.cu")
        return KernelLaunch("store", "store", source, grid=(8,), block=(128,), arguments=arguments)._replace(**more)

    @property
    def asked(self) -> list[str]:
        return (self.folder / "log").read_text().splitlines()


def script(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Box:
    script(tmp_path / "python", f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    monkeypatch.setenv("FAKE_ANSWERS", str(tmp_path / "answers.json"))
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    monkeypatch.setattr(execute, "has_gpu", lambda: True)
    which, own = shutil.which, tmp_path / "bin" / "nvcc"

    def found(name: str) -> str | None:
        return which(name) if name != "nvcc" else str(own) if own.exists() else None

    monkeypatch.setattr("shutil.which", found)
    return Box(tmp_path, monkeypatch)


def test_cupy_is_the_first_and_nobody_else_is_asked(box: Box) -> None:
    box.nvcc({**SEEN, "device": "B card"})
    (found,) = box.ran(cupy=GOOD, torch=GOOD)
    assert (found.verdict, found.device, found.differing, found.first_differing) == ("confirmed", "gpu", 2, 2)
    assert found.note == "by CuPy, on A card: a kernel, not an op: no framework launched it"
    assert box.asked == ["cupy start", "cupy observe"]


def test_nvcc_takes_what_cupy_refuses_and_what_it_lacks(box: Box) -> None:
    box.nvcc({**SEEN, "device": "B card"})
    (found,) = box.ran(cupy=REFUSED, torch=GOOD)
    assert found.note.startswith("by nvcc, on B card")
    assert box.asked == ["cupy start", "cupy observe", "nvcc"]
    (found,) = box.ran(torch=GOOD)
    assert found.note.startswith("by nvcc, on B card")
    assert box.asked == ["cupy start", "nvcc"]


def test_a_c_expression_goes_past_cupy_to_nvcc(box: Box) -> None:
    box.nvcc({**SEEN, "device": "B card"})
    typed = Operand("view", code="values")
    launch = box.launch(arguments=(*box.launch().arguments, typed))
    (found,) = box.ran(launch, cupy=GOOD, torch=GOOD)
    assert found.note.startswith("by nvcc")
    assert box.asked == ["cupy start", "nvcc"]


def test_the_nvrtc_of_pytorch_is_the_third(box: Box) -> None:
    (found,) = box.ran(torch=GOOD)
    assert found.note.startswith("by PyTorch's nvrtc, on A card")
    box.nvcc(fails="no card of this kind")
    (found,) = box.ran(cupy=CRASHES, torch=GOOD)
    assert found.note.startswith("by PyTorch's nvrtc, on A card")
    assert box.asked == ["cupy start", "cupy observe", "nvcc", "torch start", "torch observe"]


def test_each_launch_goes_its_own_way_and_a_way_is_looked_for_once(box: Box) -> None:
    first, other = box.launch(), box.launch(name="other", source=str(Path(__file__).parent / "kernels" / "faults.cu"))
    found = box.ran(first, other, torch=GOOD)
    assert [one.verdict for one in found] == ["confirmed", "confirmed"]
    assert box.asked == ["cupy start", "torch start", "torch observe", "torch observe"]


def test_what_every_way_fails_at_is_told_by_way_and_never_emulated(box: Box) -> None:
    box.nvcc(fails="no card of this kind")
    (found,) = box.ran(cupy=REFUSED, torch=CRASHES)
    assert (found.verdict, found.device) == ("harness-error", "gpu")
    assert found.note == (
        "CuPy: CompileException: no such header; nvcc: does not compile: k.cu(3): error: no card of this kind; "
        "PyTorch's nvrtc: the process ended with exit code 3"
    )


@pytest.mark.skipif(bool(why_not_emulated()), reason=why_not_emulated() or "-")
@pytest.mark.parametrize("answers", [{}, {"cupy": BROKEN, "torch": BROKEN}])
def test_the_emulator_is_the_last_and_says_so(box: Box, answers: dict[str, Any]) -> None:
    (found,) = box.ran(**answers)
    assert (found.verdict, found.device) == ("order-dependent (emulated)", "cpu")
    assert found.note.startswith(
        "a GPU is here, but neither CuPy nor nvcc nor PyTorch's nvrtc can use it; emulated on the"
    )
    assert box.asked == ["cupy start", "torch start"]


def test_a_program_that_finds_no_device_is_no_way(box: Box) -> None:
    box.nvcc({"raised": "NoDevice: no CUDA-capable device is detected"})
    (found,) = box.ran(device="gpu")
    assert (found.verdict, found.device) == ("untested-needs-device", "")
    assert "neither CuPy nor nvcc nor PyTorch's nvrtc can use it" in found.note
    (found,) = box.ran(device="gpu", torch=GOOD)
    assert found.note.startswith("by PyTorch's nvrtc")


def test_a_gpu_that_is_asked_for_is_not_emulated(box: Box) -> None:
    (found,) = box.ran(device="gpu")
    assert (found.verdict, found.device) == ("untested-needs-device", "")
    box.monkeypatch.setattr(execute, "has_gpu", lambda: False)
    (found,) = box.ran(device="gpu", cupy=GOOD)
    assert found.note == "no CUDA device is here"
    assert box.asked == []


class Tensor:
    """Memory with an address."""

    def __init__(self, address: int) -> None:
        self.address = address

    def data_ptr(self) -> int:
        return self.address


def test_pytorch_is_handed_scalars_of_their_own_type(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("runtime_child", SCRIPT)
    assert spec is not None and spec.loader is not None
    child = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(child)
    seen: list[Any] = []

    def launch(function: Any, *rest: Any) -> int:
        sizes, (stream, pointers, extra) = rest[:7], rest[7:]
        whole = ctypes.cast(pointers[0], ctypes.POINTER(ctypes.c_uint64))[0]
        single = ctypes.cast(pointers[1], ctypes.POINTER(ctypes.c_float))[0]
        long = ctypes.cast(pointers[2], ctypes.POINTER(ctypes.c_int64))[0]
        seen.append((function, [one.value for one in sizes], stream.value, whole, single, long, extra))
        return 0 if len(seen) == 1 else 700

    options: list[Any] = []

    def compiled(*words: Any, **more: Any) -> Any:
        options.append((words, more))
        return kernel

    kernel = SimpleNamespace(func="f", set_shared_memory_config=options.append)
    cuda = SimpleNamespace(
        _compile_kernel=compiled,
        get_device_name=lambda number: "A card", synchronize=lambda: None,
        current_stream=lambda: SimpleNamespace(cuda_stream=77),
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, Tensor=Tensor))
    library = SimpleNamespace(cuLaunchKernel=launch)
    monkeypatch.setitem(sys.modules, "torch.cuda._utils", SimpleNamespace(_get_gpu_runtime_library=lambda: library))
    way = child.ByTorch(None)
    asked = {"code": "k", "name": "k<int>", "options": ["-DX"], "grid": [8, 2], "block": [128], "shared": 65536}
    values = [Tensor(2**40), memoryview(struct.pack("=f", 1.5)), memoryview(struct.pack("=q", -(2**40)))]
    way.launched(way.compiled(asked), asked, values)
    assert options == [(("k", "k<int>"), {"nvcc_options": ["-DX"]}), 65536]
    assert seen == [("f", [8, 2, 1, 128, 1, 1, 65536], 77, 2**40, 1.5, -(2**40), None)]
    with pytest.raises(RuntimeError, match="700"):
        way.launched(kernel, asked, values)
