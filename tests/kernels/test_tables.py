"""Kernels that are launched out of a table."""

from __future__ import annotations

import pytest

from .torch_programs import ops

KERNELS = """
    #pragma once
    template <int N> __global__ void pack(float* p) { atomicAdd(p, 1.f * threadIdx.x); }
    template <int N> __global__ void unpack(float* p) { p[threadIdx.x] = N; }
    %s
"""
LAUNCH = """
    #include <torch/extension.h>
    #include "kernels.cuh"
    void pack_all(at::Tensor x, int bits) { packing[bits - 2]<<<1, 32>>>(x.data_ptr<float>()); }
    void unpack_all(at::Tensor x, int bits) { unpacking[bits - 2]<<<1, 32>>>(x.data_ptr<float>()); }
    PYBIND11_MODULE(_C, m) { m.def("pack_all", &pack_all); m.def("unpack_all", &unpack_all); }
"""


@pytest.mark.parametrize(
    "tables",
    [
        "kernel_t packing[] = { pack<2>, pack<3> }; kernel_t unpacking[] = { unpack<2>, unpack<3> };",
        "static const kernel_t packing[1][2] = {{&pack<2>, &pack<3>}}; kernel_t unpacking[] = {unpack<2>};",
        """
    #define __(i) pack<i>
    constexpr auto packing = std::array { __(2), __(3) };
    #undef __
    #define __(i) unpack<i>
    constexpr auto unpacking = std::array<kernel_t, 2> { __(2), __(3) };
    #undef __
        """,
        """
    static const kernel_t packing[] = {
    #if ARCH == 0 || ARCH >= 90
      pack<2>,  // the usual one; others follow
    #endif
      pack<3>,
    };
    kernel_t unpacking[] = { unpack<2> };
        """,
    ],
)
def test_a_kernel_has_the_ops_that_launch_its_table(tables: str) -> None:
    found = ops({"kernels.cuh": KERNELS % tables, "launch.cu": LAUNCH})
    assert [op.name.rpartition(".")[2] for op in found] == ["pack_all"]
    assert "in table `packing`" in [s.text for s in found[0].chain]
