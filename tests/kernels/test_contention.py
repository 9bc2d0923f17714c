"""What a reason says of the threads that meet in a cell."""

from __future__ import annotations

import pytest

from .support import only

BY_DATA = "which threads share a cell is up to `idx[i]`"


@pytest.mark.parametrize(
    "body, said",
    [
        ("int i = blockIdx.x * blockDim.x + threadIdx.x; int c = idx[i]; atomicAdd(&o[c], v[i]);", BY_DATA),
        ("int i = threadIdx.x; atomicAdd(o + idx[i] * n, v[i]);", BY_DATA),
        ("atomicAdd(o, v[threadIdx.x]);", "all threads share this one cell"),
        ("float s = v[blockIdx.x]; if (threadIdx.x == 0) atomicAdd(&o[0], s);",
         "one thread of each block adds to this one cell"),
        ("atomicAdd(o + blockIdx.x, v[threadIdx.x]);", "the threads of a block share a cell"),
        ("int t = threadIdx.x; atomicAdd(o + t, v[blockIdx.x]);", "every block writes the same cells"),
        ("__shared__ float s; atomicAdd(&s, v[threadIdx.x]); o[blockIdx.x] = s;",
         "the threads of a block share this one cell"),
    ],
)  # fmt: skip
def test_who_meets(body: str, said: str) -> None:
    reason = only(f"__global__ void k(float* o, const int* idx, const float* v, int n) {{ {body} }}").reason
    assert reason.endswith(f"from run to run; {said}")


@pytest.mark.parametrize(
    "body",
    [
        "atomicAdd(o + cell(threadIdx.x), v[blockIdx.x]);",
        "int c; if (n) c = threadIdx.x; atomicAdd(o + c, v[0] * threadIdx.x);",
        "CUDA_KERNEL_LOOP(i, n) { atomicAdd(o + i / 2, v[i]); }",
        "n += threadIdx.x; atomicAdd(o + n, v[threadIdx.x]);",
    ],
)
def test_what_the_source_does_not_show_is_not_said(body: str) -> None:
    found = only(f"__global__ void k(float* o, const int* idx, const float* v, int n) {{ {body} }}")
    assert found.verdict == "yes"
    assert found.reason.endswith("from run to run")
