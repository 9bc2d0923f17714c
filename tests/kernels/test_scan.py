"""The whole scan: sites, calls and ops put together, sorted, remembered, moved and limited."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d9mlint.discover import KERNEL_SOURCES
from d9mlint.kernels import places, scan, tree
from d9mlint.kernels.findings import checks, findings
from d9mlint.kernels.judging import judge
from d9mlint.kernels.listing import listing, stamp
from d9mlint.kernels.ops import own_ops
from d9mlint.kernels.source.repository import SUFFIXES, Repository
from d9mlint.model import KernelScan, Op, Remedy, Rule

FLOAT = """#include <torch/extension.h>
__global__ void add_kernel(float* out, const float* in, const int* index) {
  atomicAdd(out + index[threadIdx.x], in[threadIdx.x]);
}
void add(torch::Tensor out, torch::Tensor in, torch::Tensor index) {
  %s
  add_kernel<<<1, 32>>>(out.data_ptr<float>(), in.data_ptr<float>(), index.data_ptr<int>());
}
PYBIND11_MODULE(ext, m) { m.def("add", &add); }
"""
SCAN = "#include <cub/cub.cuh>\nvoid f(float* x, int n) { cub::DeviceScan::InclusiveSum(t, b, x, x, n); }\n"
SLOT = """__global__ void slots(int* out, int* count, const int* in) {
  if (in[threadIdx.x]) out[atomicAdd(count, 1)] = in[threadIdx.x];
}
"""
TRITON = """import triton
import triton.language as tl

@triton.jit
def kernel(out, x, index, n):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    tl.atomic_add(out + tl.load(index + i), tl.load(x + i))
"""


def scanned(**files: str | bytes) -> KernelScan:
    data = {
        name.replace("_dot_", "."): text.encode() if isinstance(text, str) else text for name, text in files.items()
    }
    return scan.scan(Repository(data, data.__getitem__))


def rule(name: str, family: str = "kernels") -> Rule:
    return Rule(
        name, "D9M701", family, "warning", "high", "kernel-atomic", "impl", "", "", "{reason}{ops}", remedies=(Remedy("x"),)
    )  # fmt: skip


def test_sites_calls_and_ops_come_together() -> None:
    found = scanned(add_dot_cu=FLOAT % "", scan_dot_cu=SCAN, triton_dot_py=TRITON)
    assert [(s.location.path, s.location.line, s.verdict) for s in found.sites] == [
        ("add.cu", 3, "yes"),
        ("triton.py", 7, found.sites[1].verdict),
    ]
    assert [c.name for c in found.library_calls] == ["InclusiveSum"]
    assert found.sites[0].ops == ("ext.add",)
    assert found.sites[0].guard.level == "none"
    assert set(found.sources) == {"add.cu", "scan.cu", "triton.py"}
    assert found.files == 3


def test_the_guard_of_its_ops_is_that_of_a_site() -> None:
    alert = 'at::globalContext().alertNotDeterministic("add");'
    found = scanned(add_dot_cu=FLOAT % alert)
    assert found.sites[0].guard.level == "throws"
    assert found.sites[0].guard.where is not None
    (one,) = findings(found, checks([rule("float-atomic")]))
    assert one.severity == "info"
    assert own_ops(found)[0].status[0].deterministic_mode == "raises"


def test_each_site_that_can_vary_has_one_finding() -> None:
    found = scanned(add_dot_cu=FLOAT % "", slot_dot_cu=SLOT, scan_dot_cu=SCAN)
    names = ("float-atomic", "order-dependent-atomic", "unjudged-atomic", "nondeterministic-library-call")
    raised = findings(found, checks([*map(rule, names), rule("unseeded-numpy", "seeds")]))
    assert [(f.rule, f.location.path) for f in raised] == [
        ("float-atomic", "add.cu"),
        ("nondeterministic-library-call", "scan.cu"),
        ("order-dependent-atomic", "slot.cu"),
    ]
    assert raised[0].message.endswith("(reached by `ext.add`)")
    assert raised[0].related


def test_ops_are_told_as_the_catalogue_tells_them() -> None:
    (op,) = own_ops(scanned(add_dot_cu=FLOAT % ""))
    assert isinstance(op, Op)
    assert (op.name, op.calls, op.framework, op.devices) == ("ext.add", ("ext.add",), "torch", ("gpu",))
    assert op.sites == ("add.cu:3",)
    assert own_ops(scanned(add_dot_cu=(FLOAT % "").replace("float", "int"))) == []


def test_the_order_of_the_files_changes_nothing() -> None:
    data = {"b.cu": SLOT.encode(), "a.cu": (FLOAT % "").encode(), "c.cu": SCAN.encode()}
    names = list(data)
    first = scan.scan(Repository(names, data.__getitem__))
    random.Random(1).shuffle(names)
    assert scan.scan(Repository(names, data.__getitem__)) == first


def test_a_crash_on_one_site_takes_nothing_else_down(monkeypatch: pytest.MonkeyPatch) -> None:
    real = judge.judge

    def crash(atomic: object, repository: object) -> object:
        if atomic.location.path == "slot.cu":  # type: ignore[attr-defined]
            raise ZeroDivisionError("boom")
        return real(atomic, repository)  # type: ignore[arg-type]

    monkeypatch.setattr(scan, "judge", crash)
    found = scanned(slot_dot_cu=SLOT, add_dot_cu=FLOAT % "")
    assert [(s.location.path, s.verdict) for s in found.sites] == [("add.cu", "yes"), ("slot.cu", "unknown")]
    assert [(u.path, u.reason) for u in found.unchecked] == [("slot.cu", "internal-error: ZeroDivisionError: boom")]


def test_files_that_cannot_be_read_are_named() -> None:
    def read(path: str) -> bytes:
        if path == "gone.cu":
            raise FileNotFoundError(2, "No such file or directory")
        return (FLOAT % "").encode()

    found = scan.scan(Repository(["gone.cu", "add.cu"], read))
    assert [u.path for u in found.unchecked] == ["gone.cu"]
    assert len(found.sites) == 1


@pytest.mark.parametrize("cut", [10, 90, 150, 200, 260])
def test_truncated_sources_do_not_raise(cut: int) -> None:
    scanned(add_dot_cu=(FLOAT % "")[:cut])


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=300))
def test_garbage_does_not_raise(garbage: bytes) -> None:
    scanned(add_dot_cu=b"atomicAdd(x, 1.f); cub::DeviceScan::" + garbage + (FLOAT % "").encode())


# -- folders -------------------------------------------------------------------------------------------------------


def test_a_folder_is_listed_without_environments_and_foreign_files(tmp_path: Path) -> None:
    for name in ("a/x.cu", "a/y.txt", "z.png", ".venv/lib/v.cu", ".git/g.cu", "p.py", "pkg.egg-info/e.cc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "link.cu").symlink_to(tmp_path / "a" / "x.cu")
    files = listing(tmp_path)
    assert files.paths == ("a/x.cu", "a/y.txt", "p.py")
    assert files.sources


def test_the_digest_follows_sizes_and_times(tmp_path: Path) -> None:
    file = tmp_path / "x.cu"
    file.write_text("int a;")
    os.utime(file, (1e9, 1e9))
    first = stamp(listing(tmp_path))[0]
    assert stamp(listing(tmp_path))[0] == first
    os.utime(file, (1e9, 1e9 + 1))
    assert stamp(listing(tmp_path))[0] != first


def test_a_fresh_file_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "src" / "x.cu"
    source.parent.mkdir()
    source.write_text(SLOT)
    first = tree.scan(listing(source.parent))
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    os.utime(source, (1e9, 1e9))
    assert tree.scan(listing(source.parent)) == first
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert tree.scan(listing(source.parent)) == first


def test_moving_and_limiting_keep_everything_together() -> None:
    found = scanned(add_dot_cu=FLOAT % "", slot_dot_cu=SLOT)
    moved = places.moved(found, "../x/")
    assert {s.location.path for s in moved.sites} == {"../x/add.cu", "../x/slot.cu"}
    assert {at.path for op in moved.ops for at in op.sites} == {"../x/add.cu"}
    assert all(step.location.path.startswith("../x/") for op in moved.ops for step in op.chain)
    only = places.limited(found, lambda path: path == "slot.cu")
    assert [s.location.path for s in only.sites] == ["slot.cu"]
    assert only.ops == ()
    assert places.joined([found]) is found
    assert places.joined([moved, found]).files == 2 * found.files


def test_both_layers_agree_on_what_a_source_is_called() -> None:
    assert SUFFIXES == KERNEL_SOURCES
