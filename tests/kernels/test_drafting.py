"""``d9mlint kernels --draft-spec``: specifications with the types of the source and guesses that are told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from conftest import Ran

from d9mlint.catalogue.schema.launches import read_launches

Run = Callable[..., Ran]

SOURCE = """
namespace ours {
template <typename T, int D, bool Twice>
__global__ void accumulate(const T* __restrict__ values, const int64_t* cells, T* sums, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[cells[i]], values[i] * scale);
}
}
__global__ void slots(const float* x, int* out, int* count, const size_t size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size && x[i] > 0) out[atomicAdd(count, 1)] = i;
}
__global__ void exact(int* out) { atomicAdd(out, 1); }
void run(float* a) { ours::accumulate<double, 3, false><<<1, 2>>>(nullptr, nullptr, (double*)a, 1, 2.f); }
"""


def test_a_draft_is_read_as_it_is(d9mlint: Run, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "k.cu").write_text(SOURCE)
    ran = d9mlint("kernels", "src", "--draft-spec", "spec.yaml", "--no-cache")
    assert "drafted 2 kernels in spec.yaml" in ran.err
    first, second = read_launches(tmp_path / "spec.yaml")
    assert (first.kernel, first.template) == ("ours::accumulate", ("double", "8", "true"))
    assert Path(first.source).resolve() == (tmp_path / "src" / "k.cu").resolve()
    told = {one.name: (one.dtype, one.values, one.value, one.output) for one in first.arguments}
    assert told == {
        "values": ("float64", "normal", None, False), "cells": ("int64", "index", None, False),
        "sums": ("float64", "zeros", None, True), "n": ("int32", "normal", 4096, False),
        "scale": ("float32", "normal", 1.0, False),
    }  # fmt: skip
    assert [one.dtype for one in second.arguments] == ["float32", "int32", "int32", "uint64"]
    assert second.kernel == "slots"  # the exact one is left out
    assert "a guess: template arguments double, 8, true" in (tmp_path / "spec.yaml").read_text()


def test_what_cannot_be_guessed_is_marked(d9mlint: Run, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "__global__ void k(PackedTensorAccessor32<float, 2> a, float* out) { atomicAdd(out, a[threadIdx.x][0]); }"
    )
    d9mlint("kernels", ".", "--draft-spec", "spec.yaml", "--no-cache")
    text = (tmp_path / "spec.yaml").read_text()
    assert "a: {code: TODO_a}  # `PackedTensorAccessor32<float, 2>` is for you to write" in text
    (launch,) = read_launches(tmp_path / "spec.yaml")
    assert launch.arguments[0].code == "TODO_a"


def test_only_a_folder(d9mlint: Run, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(SOURCE)
    assert d9mlint("kernels", "k.cu", "--draft-spec", "spec.yaml").code == 2
    assert not (tmp_path / "spec.yaml").exists()
