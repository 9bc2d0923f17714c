"""Sources in other languages are named as skipped, templates of CMake are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

from d9mlint.kernels.scan import scan
from d9mlint.kernels.source.repository import Repository

KERNEL = "__global__ void k(float* o, const int* i) { atomicAdd(&o[i[threadIdx.x]], .5f * threadIdx.x); }\n"
METAL = "kernel void s(device atomic_float* o) { atomic_fetch_add_explicit(&o[0], 1.5f, memory_order_relaxed); }\n"
CYTHON = "cdef _add = _create_kernel('add', 'atomicAdd(&out0, in1)')\n"
UNKNOWN = "import halo as hl\n@hl.kernel()\ndef k(out, x):\n    hl.atomic_add(out, [0], x)\n"
JULIA = "function k(a, b)\n  CUDA.@atomic a[1] += b[threadIdx().x]\nend\n@cuda k(a, b)\n"
MOJO = "from gpu import thread_idx\ndef k(a): _ = Atomic.fetch_add(a, thread_idx.x)\n"
OPENCL = "__kernel void h(__global int* o) { atomic_add(&o[get_global_id(0) % 7], 1); }\n"


def test_other_languages_are_named() -> None:
    files = {"a.cu": KERNEL, "b.metal": METAL, "d.cl": OPENCL, "plain.metal": "kernel void p() {}\n"}
    files |= {"e.pyx": CYTHON, "plain.pyx": "# atomicAdd is slow\ncdef int atomics = 1\n"}
    files |= {"plain.cpp": "void f() { Kokkos::initialize(); }\n"}
    found = scan(Repository(files, lambda path: files[path].encode()))
    assert [(one.path, one.reason) for one in found.skipped] == [
        ("b.metal", "atomics of Metal are not looked at"),
        ("d.cl", "atomics of OpenCL are not looked at"),
        ("e.pyx", "atomics of CUDA in Cython are not looked at"),
    ]
    assert {site.location.path for site in found.sites} == {"a.cu"}
    assert not found.unchecked


def test_a_tree_of_languages_that_are_not_read_says_so(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(UNKNOWN)
    (tmp_path / "k.jl").write_text(JULIA)
    (tmp_path / "k.mojo").write_text(MOJO)
    (tmp_path / "plain.jl").write_text("# an atomic_thing without kernels\n")
    (tmp_path / "host.py").write_text("@jit\ndef f(x):\n    return x.atomic_add(1)\n")
    told = d9mlint("kernels", ".", "--no-cache")
    assert told.code == 0, told
    skipped = json.loads(d9mlint("kernels", ".", "--no-cache", "--format", "json").out)["skipped"]
    assert skipped == [
        {"path": "k.jl", "reason": "atomics of Julia are not looked at"},
        {"path": "k.mojo", "reason": "atomics of Mojo are not looked at"},
        {"path": "k.py", "reason": "atomics of a kernel language in Python that is not known here are not looked at"},
    ]


@pytest.mark.parametrize("name", ["k.cuh.in", "k.cu.in"])
def test_templates_of_cmake(name: str) -> None:
    text = KERNEL.replace("float*", "@TYPE@*").encode()
    found = scan(Repository([name], lambda _: text)).sites
    assert [site.location.path for site in found] == [name]


def test_skipped_files_are_shown_and_no_failure(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "b.metal").write_text(METAL)
    (tmp_path / "clean.cu").write_text("__global__ void k(int* o) { atomicAdd(o, 1); }\n")
    (tmp_path / "k.cuh.in").write_text("__global__ void k(int* o) { atomicMax(o, 1); }\n")
    plain = d9mlint("kernels", ".", "--no-cache")
    assert plain.code == 0
    assert "skipped:    1 file (b.metal): atomics of Metal are not looked at" in plain.out
    told = json.loads(d9mlint("kernels", ".", "--no-cache", "--format", "json").out)
    assert told["skipped"] == [{"path": "b.metal", "reason": "atomics of Metal are not looked at"}]
    assert [site["path"] for site in told["sites"]] == ["clean.cu", "k.cuh.in"]
    assert "atomics of Metal are not looked at" in d9mlint("kernels", ".", "--no-cache", "--format", "html").out


def test_sums_of_pytorch_in_python_are_named_beside_kernels(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "clean.cu").write_text("__global__ void k(int* o) { atomicAdd(o, 1); }\n")
    (tmp_path / "pool.py").write_text(
        "import torch\ndef f(o, i, x):\n    return o.index_add_(0, i, x).scatter_add(0, i, x)\n"
    )
    (tmp_path / "set.py").write_text("import torch\ndef f(o, i, x):\n    return o.index_put_((i,), x)\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_pool.py").write_text("import torch\ntorch.zeros(3).index_add_(0, i, x)\n")
    told = d9mlint("kernels", ".", "--no-cache", "--format", "json")
    assert json.loads(told.out)["skipped"] == [
        {"path": "pool.py", "reason": "sums of PyTorch (`index_add_`, `scatter_add`) are not judged here; "
                                      "`check` tells of them"},
    ]  # fmt: skip
    assert "no unguarded site that can vary in what was looked at" in d9mlint("kernels", ".", "--no-cache").out
    (tmp_path / "clean.cu").unlink()
    assert d9mlint("kernels", ".", "--no-cache").code == 2


def test_submodules_that_are_not_there_are_named(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "clean.cu").write_text("__global__ void k(int* o) { atomicAdd(o, 1); }\n")
    (tmp_path / ".gitmodules").write_text(
        "".join(f'[submodule "{n}"]\n\tpath = third_party/{n}\n\turl = ../{n}.git\n' for n in ("gone", "here", "bare"))
    )
    for name in ("here", "bare"):
        (tmp_path / "third_party" / name).mkdir(parents=True)
    (tmp_path / "third_party" / "here" / "a.cuh").write_text("")
    told = json.loads(d9mlint("kernels", ".", "--no-cache", "--format", "json").out)["skipped"]
    assert [one["path"] for one in told] == ["third_party/bare/", "third_party/gone/"]
    assert "2 folders (third_party/bare/, third_party/gone/): a submodule that is not checked out" in d9mlint(
        "kernels", ".", "--no-cache"
    ).out.replace("\n             ", "")
