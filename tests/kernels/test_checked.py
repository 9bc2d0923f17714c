"""Integer atomics whose cells other threads read plainly, to decide by them what they store."""

from __future__ import annotations

import pytest

from .support import only

_KERNEL = """
__global__ void k(int* cnt, const int* at, const float* cost, float* dist) {{
  __shared__ int own[256];
  int u = at[threadIdx.x];
  float mine[4];
  {body}
}}
"""


@pytest.mark.parametrize(
    "body",
    [
        "if (cnt[u] > 1) { atomicAdd(&cnt[u], -1); dist[threadIdx.x] = cost[u]; }",
        "if (cnt[u] > 1 || u > 3) { float c = cost[u]; atomicSub(&cnt[u], 1); if (c > 1) { dist[threadIdx.x] = c; } }",
        "for (int j = 0; j < 4; j++) { if (own[u] == 1) { dist[threadIdx.x] = 2; atomicAdd(&own[u], 1); } }",
    ],
)
def test_a_test_of_the_cell_decides_what_is_stored(body: str) -> None:
    said = only(_KERNEL.format(body=body))
    assert (said.class_, said.verdict) == ("commutative-exact", "conditional")
    assert "with no barrier between" in said.reason


@pytest.mark.parametrize(
    "body",
    [
        "if (at[u] > 1) { atomicAdd(&cnt[u], -1); dist[threadIdx.x] = cost[u]; }",
        "if (cnt[u] > 1) { atomicAdd(&cnt[u], -1); }",
        "if (cnt[u] > 1) { __syncthreads(); atomicAdd(&cnt[u], -1); dist[threadIdx.x] = cost[u]; }",
        "if (own[threadIdx.x] > 1) { atomicAdd(&own[threadIdx.x], -1); dist[threadIdx.x] = cost[u]; }",
        "if (cnt[u] > 1) { atomicAdd(&cnt[u], -1); mine[0] = cost[u]; }",
        "if (cnt[u] > 1) { dist[threadIdx.x] = cost[u]; } else { atomicAdd(&cnt[u], -1); }",
    ],
)
def test_else_the_sum_is_exact(body: str) -> None:
    said = only(_KERNEL.format(body=body))
    assert (said.class_, said.verdict) == ("commutative-exact", "no")
