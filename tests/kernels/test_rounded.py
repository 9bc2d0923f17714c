"""Addends that are rounded to one grid before they are added."""

from __future__ import annotations

import pytest

from .support import check

_ROUND = """
    #pragma once
    template <typename T>
    __device__ T to_grid(T const grid, T const x) { return (grid + x) - grid; }
    template <typename T>
    __device__ T compensated(T const grid, T const x) { return (grid + x) - x * grid; }
    struct Pair { float a, b; };
    __device__ void add_pair(Pair* to, Pair v) { atomicAdd(&to->a, v.a); atomicAdd(&to->b, v.b); }
"""
_KERNEL = """
    #include "rounding.cuh"
    __global__ void k(float* sums, Pair* pairs, const float* x, float grid) {{
      float v = x[threadIdx.x];
      {statements}
    }}
"""


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("atomicAdd(&sums[v > 0], to_grid(grid, v));", "no"),
        ("atomicAdd(&sums[v > 0], (grid + v) - grid);", "no"),
        ("auto r = to_grid<float>(grid, v); atomicAdd(&sums[v > 0], -r);", "no"),
        ("auto r = to_grid(grid, v); r *= 0.1f; atomicAdd(&sums[v > 0], r);", "yes"),
        ("atomicAdd(&sums[v > 0], compensated(grid, v));", "yes"),
        ("atomicAdd(&sums[v > 0], (grid + v) - v * grid);", "yes"),
        ("atomicAdd(&sums[v > 0], v * to_grid(grid, v));", "yes"),
        ("Pair r = Pair{to_grid(grid, v), to_grid(grid, -v)}; add_pair(&pairs[v > 0], r);", "no"),
        ("Pair r = Pair{to_grid(grid, v), v}; add_pair(&pairs[v > 0], r);", "yes"),
    ],
)
def test_a_rounded_addend(statement: str, verdict: str) -> None:
    check(_KERNEL.format(statements=f"{statement} // -> float-accumulate {verdict}"), rounding_cuh=_ROUND)


def test_another_addend_of_the_same_cells_is_not_rounded() -> None:
    other = """
      atomicAdd(&sums[0], to_grid(grid, v));                                     // -> float-accumulate yes
      atomicAdd(&sums[1], v);                                                    // -> float-accumulate yes
    """
    check(_KERNEL.format(statements=other), rounding_cuh=_ROUND)
    other = """
      add_pair(&pairs[0], Pair{to_grid(grid, v), to_grid(grid, v)});             // -> float-accumulate yes
      add_pair(&pairs[1], Pair{v, v});                                           // -> float-accumulate yes
    """
    check(_KERNEL.format(statements=other), rounding_cuh=_ROUND)
