"""Objects that a function hands to a kernel, which calls methods that the function does not name."""

from __future__ import annotations

from .torch_programs import ops

_CELLS = """
    #include <torch/extension.h>
    template <typename T> struct Cells {
      T* out;
      __device__ void deposit(int i, T v) { atomicAdd(out + i, v); }
      __device__ T seen(int i) { return out[i]; }
    };
"""
_KERNELS = """
    #include "cells.cuh"
    template <typename C> __device__ void visit(C& cells, int i) { cells.deposit(i, 1.5f); }
    template <typename C> __global__ void fill(C cells, const int* at) { visit(cells, at[threadIdx.x]); }
    template <typename C> __global__ void show(C cells, float* out) { out[threadIdx.x] = cells.seen(threadIdx.x); }
"""


def names(functions: str) -> list[str]:
    """The ops of two functions, `first` and `second`."""
    bound = """
    PYBIND11_MODULE(_cells, m) { m.def("first", &first); m.def("second", &second); }
    """
    files = {"cells.cuh": _CELLS, "kernels.cuh": _KERNELS, "bind.cu": '#include "kernels.cuh"\n' + functions + bound}
    return [op.name for op in ops(files)]


def test_a_kernel_calls_the_method_of_an_object_that_it_is_handed() -> None:
    assert names("""
    void first(at::Tensor x) { Cells<float> cells{x.data_ptr<float>()}; fill<<<1, 4>>>(cells, x.data_ptr<int>()); }
    void second(at::Tensor x) { fill<<<1, 4>>>(Cells<float>{x.data_ptr<float>()}, x.data_ptr<int>()); }
    """) == ["_cells.first", "_cells.second"]
    assert names("""
    void first(at::Tensor x) { auto cells = Cells<float>{x.data_ptr<float>()}; fill<<<1, 4>>>(cells, x.data_ptr<int>()); }
    void second(at::Tensor x) { x.zero_(); }
    """) == ["_cells.first"]


def test_a_kernel_that_calls_another_method_reaches_nothing() -> None:
    assert names("""
    void first(at::Tensor x) { Cells<float> cells{x.data_ptr<float>()}; show<<<1, 4>>>(cells, x.data_ptr<float>()); }
    void second(at::Tensor x) { Cells<float> cells{x.data_ptr<float>()}; fill<<<1, 4>>>(cells, x.data_ptr<int>()); }
    """) == ["_cells.second"]


def test_a_member_of_an_object_that_is_handed_on_is_not_the_object() -> None:
    assert (
        names("""
    void first(at::Tensor x) { Cells<float> cells{x.data_ptr<float>()}; fill<<<1, 4>>>(cells.out, x.data_ptr<int>()); }
    void second(at::Tensor x) { x.zero_(); }
    """)
        == []
    )
