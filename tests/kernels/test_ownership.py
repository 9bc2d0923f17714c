"""Addresses that one thread owns, and those that only look so."""

from __future__ import annotations

import pytest

from .support import check, judged, only


def test_digits_of_a_flat_index() -> None:
    kernel = """
        __global__ void k(const int B, const int P, const int M, const int O, const int K, const int* at,
                          const float* x, float* points, float* loose) {
          CUDA_1D_KERNEL_LOOP(i, B * M * O) {
            int b = (int)(i / (M * O));
            int m = (int)(i % (M * O) / O);
            int o = (int)(i % O);
            for (int k = 0; k < K; k++) {
              int p = at[b * K + k];
              if (p >= P || p < 0) {
                continue;
              }
              int q = at[k];
              atomicAdd(points + b * P * M * O + p * M * O + m * O + o, x[k]);   // -> float-accumulate no
              atomicAdd(&loose[((b * P + q) * M + m) * O + o], x[k]);            // -> float-accumulate yes
            }
          }
        }
    """
    check(kernel)
    varied = kernel.replace("accumulate no", "accumulate yes")
    check(varied.replace("p < 0", "p < -1"))
    check(varied.replace("p >= P", "p > P"))
    check(varied.replace("continue;", 'printf("out");'))
    check(varied.replace("i % (M * O) / O", "i % (M * O) / M"))
    check(kernel.replace("+ m * O + o", "+ m + o * M"))
    check(varied.replace("+ m * O + o", "+ m + o"))
    check(varied.replace("+ m * O + o,", "+ m * O,"))
    check(varied.replace("int o = ", "int y = threadIdx.y; int o = "))


SHIFTED = """
    template <typename F>
    __global__ void k(const int T, const int C, const int H, const int m, const F* x, F* __restrict__ const whole) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      const int b = i / C, h = (i / N) % H, n = i % N;
      const int first = b * T * C + h * N;
      F* __restrict__ const y = whole + first + n;
      for (int t = 0; t < T; t++) {
        const int at = t * C;
        for (int j = 0; j < N; j++) {
          atomicAdd(y + at, x[j] * x[m]);
          atomicAdd(y + at, x[m]);
        }
      }
    }
    void launch(float* x) { k<float><<<1, 1>>>(1, 2, 3, 4, x, x); }
"""


def test_a_pointer_moved_by_the_digits_of_the_thread() -> None:
    found = [said for _, said in judged(SHIFTED)]
    assert {said.verdict for said in found} == {"conditional"}
    assert "no other writes the cell if `C` is `H*N`" in found[0].reason
    told = SHIFTED.replace("i / C", "i / (H * N)").replace("* C", "* H * N")
    assert {said.verdict for _, said in judged(told)} == {"no"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("whole + first + n", "whole + first"),
        ("b * T * C", "b * C"),
        ("h * N;", "h * T;"),
        ("t < T;", "t <= T;"),
        ("atomicAdd(y + at, x[m])", "atomicAdd(whole + at, x[m])"),
        ("atomicAdd(y + at, x[m])", "atomicAdd(y + t, x[m])"),
        ("atomicAdd(y + at, x[m])", "spread(y, x[m])"),
        ("const int at", "const int z = threadIdx.y, at"),
    ],
)
def test_a_pointer_that_several_threads_share(old: str, new: str) -> None:
    assert old in SHIFTED
    assert {said.verdict for _, said in judged(SHIFTED.replace(old, new))} == {"yes"}


def test_a_defined_name_is_no_setting_of_the_build() -> None:
    head = "#define N (threadIdx.x + 1)\n"
    assert {said.verdict for _, said in judged(head + SHIFTED)} == {"yes"}


REBUILT = """
    __global__ void k(float* out, const float* x, int w, int h) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      int column, row, plane;
      column = i % w;
      int rest = i / w;
      row = rest % h;
      plane = rest / h;
      {
        int const at = plane * w * h + row * w + column;
        atomicAdd(&out[at], x[plane]);  // -> float-accumulate no
      }
    }
"""


def test_an_index_taken_apart_and_put_together_again() -> None:
    check(REBUILT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("row = rest % h;", "if (w > 1) { row = rest % h; }"),
        ("row = rest % h;", "row = rest % h; row += 1;"),
        ("row = rest % h;", "row = rest % h; row = 0;"),
        ("row = rest % h;", "row = rest % h; change(&row);"),
        ("row = rest % h;", "row = rest % w;"),
        ("row * w", "row * h"),
        ("int const at", "row = 0; int const at"),
        ("int const at", "int row = 0; int const at"),
    ],
)
def test_an_index_that_is_not_the_thread_s(old: str, new: str) -> None:
    assert old in REBUILT
    check(REBUILT.replace(old, new).replace("accumulate no", "accumulate yes"))


def test_loops_and_literal_factors_in_a_flat_index() -> None:
    kernel = """
        __global__ void k(float* a, const float* x, const int n, const int C) {
          const int i = blockIdx.x * blockDim.x + threadIdx.x;
          float* mine = a + i / C * C * 3;
          for (int d = 0; d < 3; ++d) {
            atomicAdd(a + (i / C * C + i % C) * 3 + d, x[i]);      // -> float-accumulate yes
          }
          const int row = i / C;
          const int column = i % C;
          for (int d = 0; d < 3; ++d) {
            atomicAdd(&a[(row * C + column) * 3 + d], x[i]);       // -> float-accumulate no
          }
        }
    """
    kernel = kernel.replace("          float* mine = a + i / C * C * 3;\n", "")
    one = "\n".join(line for line in kernel.splitlines() if "yes" not in line)
    check(one)
    check(one.replace("d < 3", "d < 4").replace("late no", "late yes"))
    check(one.replace("++d", "--d").replace("late no", "late yes"))
    check(one.replace("row * C + column", "column * C + row").replace("late no", "late yes"))


def test_one_thread_of_each_block() -> None:
    check("""
        __global__ void k(float* per_block, float* total, float* tail, const float* x) {
          __shared__ float sum;
          __shared__ float both;
          const int tid = threadIdx.x;
          if (tid == 0 && x[0] > 0) {
            atomicAdd(&sum, x[0]);                       // -> float-accumulate no memory=shared
            atomicAdd(&per_block[blockIdx.x], x[1]);     // -> float-accumulate no
            atomicAdd(total, x[tid]);                    // -> float-accumulate yes
            atomicAdd(&both, x[3]);                      // -> float-accumulate yes memory=shared
          }
          atomicAdd(&both, x[tid]);                      // -> float-accumulate yes memory=shared
          if (threadIdx.x == 0 || x[0] > 0) {
            atomicAdd(&tail[blockIdx.x], x[tid]);        // -> float-accumulate yes
          }
        }
        __global__ void more_than_one_row(float* per_block, const float* x) {
          if (threadIdx.x == 0) atomicAdd(&per_block[blockIdx.x], x[threadIdx.y]);   // -> float-accumulate yes
        }
    """)


def test_other_devices_reach_it_too() -> None:
    said = only("""
        __global__ void k(float* a, const float* x, int n) {
          CUDA_1D_KERNEL_LOOP(i, n) { atomicAdd_system(a + i, x[i]); }
        }
    """)
    assert said.verdict == "conditional" and "other devices" in said.reason


@pytest.mark.parametrize(
    ("other", "verdict"),
    [("", "no"), ("spread(a, x, n);", "yes"), ("spread(a + n, x, n);", "yes"), ("spread(&a[n], x, n);", "yes"),
     ("x2 = look(a[i]);", "no"), ("x2 = __ldg(a + i);", "no")],
)  # fmt: skip
def test_another_function_gets_the_pointer(other: str, verdict: str) -> None:
    said = only(
        "__global__ void k(float* a, const float* x, int n) {\n  float x2 = 0;\n"
        f"  CUDA_1D_KERNEL_LOOP(i, n) {{ {other} atomicAdd(a + i, x[i] + x2); }}\n}}"
    )
    assert said.verdict == verdict


def test_the_same_constant_but_another_pointer_to_the_cells() -> None:
    check("""
        __global__ void k(float* a, const int* at, const float* x) {
          float* later = a + 1;
          atomicAdd(a + at[0], 1.0f);         // -> float-accumulate yes
          atomicAdd(later + at[1], x[0]);     // -> float-accumulate yes
        }
    """)


def test_the_same_constant_added_and_subtracted_or_handed_on() -> None:
    check("""
        __global__ void k(float* both, float* out, float* given, const int* at) {
          atomicAdd(both + at[0], 1.0f);      // -> float-accumulate yes
          atomicSub(both + at[1], 1.0f);      // -> float-accumulate yes
          atomicAdd(out + at[0], 1.0f);       // -> float-accumulate no
          ::atomicAdd(out + at[1], 1.0f);     // -> float-accumulate no
          atomicAdd(given + at[0], 1.0f);     // -> float-accumulate yes
          spread(given, at);
        }
    """)


def test_a_constant_beside_other_sums_in_another_column() -> None:
    check("""
        __global__ void k(float (*sums)[2], float (*same)[2], const float* x, const int* at) {
          atomicAdd(&sums[at[0]][0], x[threadIdx.x]);   // -> float-accumulate yes
          atomicAdd(&sums[at[0]][1], 1.0f);             // -> float-accumulate no
          atomicAdd(&same[at[0]][1], x[threadIdx.x]);   // -> float-accumulate yes
          atomicAdd(&same[at[1]][1], 1.0f);             // -> float-accumulate yes
        }
    """)
