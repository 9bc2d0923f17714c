"""Atomics on several members of one object: what one cell gets says nothing of another."""

from __future__ import annotations

import pytest

from .support import check

_COUNT = """
        __device__ void atomic_grow(int* lo, int v) {{ atomicMin(lo, v); }}   // -> commutative-exact no
        __device__ void grow(int* lo, int v) {{ atomicMin(lo, v); }}          // -> commutative-exact no
        template <typename B> __global__ void bins(B* all, const int* b, const int* x) {{
          auto& my = all[blockIdx.x].bins[b[threadIdx.x]];
          {other}
          atomicAdd(&my.count, 1);                                            // -> {said}
        }}
"""


@pytest.mark.parametrize(
    "other",
    [
        "grow(&my.lo, x[threadIdx.x]);          // -> commutative-exact no",
        "atomic_grow(&my.lo, x[threadIdx.x]);   // -> commutative-exact no",
        "atomic_grow(my.box.lo, x[threadIdx.x]);   // -> commutative-exact no",
        "extend(my.box, x[threadIdx.x]);",
    ],
)
def test_another_member_of_the_object_leaves_the_rule_of_one_constant(other: str) -> None:
    check(_COUNT.format(other=other, said="commutative-exact no"))


@pytest.mark.parametrize(
    "other",
    [
        "grow(&my.count, x[threadIdx.x]);           // -> commutative-exact no",
        "extend(my, x[threadIdx.x]);",
        "extend(&my, x[threadIdx.x]);",
        "atomic_extend(my.count, x[threadIdx.x]);",
        "atomicAdd(&my.count, x[threadIdx.x]);      // -> unknown conditional",
        "extend(my.lo, &my.count);",
    ],
)
def test_the_same_member_or_the_whole_object_takes_it_away(other: str) -> None:
    check(_COUNT.format(other=other, said="unknown conditional"))


def test_members_of_members() -> None:
    check("""
        template <typename N> __global__ void both(N* nodes, const int* x) {
          atomicAdd(&nodes[0].open.count, 1);                  // -> commutative-exact no
          atomicAdd(&nodes[0].open.total, x[threadIdx.x]);     // -> unknown conditional
        }
        template <typename N> __global__ void within(N* nodes, const int* x) {
          atomicAdd(&nodes[0].open.count, 1);                  // -> unknown conditional
          atomic_extend(nodes[0].open, x[threadIdx.x]);
        }
    """)
