"""Cells of a block's own slice, and slices that only look so."""

from __future__ import annotations

import pytest

from .support import check, judged, only

MOVED = """
    __global__ void k(int n, int m, int c, float* p, const float* x) {
      int batch = blockIdx.x;
      int first = threadIdx.x;
      int stride = blockDim.x;
      x += batch * n;
      p += batch * n * 3;
      for (int j = first; j < n; j += stride) {
        atomicAdd(&(p[j * 3 + 0]), x[j]);   // -> float-accumulate no
        atomicAdd(&(p[j * 3 + 1]), -x[j]);  // -> float-accumulate no
        atomicAdd(&(p[j * 3 + 0]), x[n]);   // -> float-accumulate no
      }
    }
"""


def test_a_pointer_moved_to_the_slice_of_the_block() -> None:
    check(MOVED)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("batch * n * 3;", "batch * m * 3;", "conditional"),  # m may be less than n
        ("j < n;", "j < m;", "conditional"),
        ("batch * n * 3;", "batch * n;", "yes"),  # steps of 3 below a slice of n
        ("batch * n * 3;", "batch * (n - 1) * 3;", "yes"),
        ("p[j * 3 + 1]", "p[j * 3 + 3]", "yes"),
        ("p[j * 3 + 1]", "p[j * 2 + 1]", "yes"),
        ("p[j * 3 + 1]", "p[m]", "yes"),
        ("int batch = blockIdx.x;", "int batch = blockIdx.x / 2;", "yes"),
        ("int batch = blockIdx.x;", "int batch = 0;", "yes"),
        ("int first = threadIdx.x;", "int first = 0;", "yes"),
        ("int first = threadIdx.x;", "int first = threadIdx.x % 32;", "yes"),
        ("int stride = blockDim.x;", "int stride = blockDim.x / 2;", "yes"),
        ("int stride = blockDim.x;", "int stride = 1;", "yes"),
        ("int stride = blockDim.x;", "int stride = blockDim.x; c += threadIdx.y;", "yes"),
        ("int stride = blockDim.x;", "int stride = blockDim.x; c += blockIdx.y;", "yes"),
        ("int stride = blockDim.x;", "int stride = blockDim.x; c += gridDim.y;", "yes"),
        ("j += stride) {", "j += stride) { j++;", "yes"),
        ("j += stride) {", "j += stride) { p += 1;", "yes"),
        ("int stride = blockDim.x;", "int stride = blockDim.x; n = x[0];", "yes"),
        ("int stride = blockDim.x;", "int stride = blockDim.x; spread(p, x);", "yes"),
        ("int stride = blockDim.x;", "int stride = blockDim.x; if (m > 3) p += m;", "yes"),
        ("int stride = blockDim.x;", "int stride = blockDim.x; float* q = p; atomicAddNoReturn(q + m, x[n]);", "yes"),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_slice(old: str, new: str, verdict: str) -> None:
    text = MOVED.replace(old, new)
    assert text != MOVED
    found = [said for atomic, said in judged(text) if "j * 3" in atomic.unit.text(atomic.arguments[0])]
    assert found and {said.verdict for said in found} == {verdict}, [said.reason for said in found]


def test_the_condition_is_told() -> None:
    said = only("""
        __global__ void k(int n, int stride, float* p, const float* x) {
          float* mine = p + (size_t)blockIdx.x * stride;
          for (int j = threadIdx.x; j < n; j += blockDim.x) atomicAdd(mine + j, x[j]);
        }
    """)
    assert said.verdict == "conditional"
    assert "if the step `stride` is long enough to keep the cells of different threads apart" in said.reason


def test_loops_over_a_grid_of_several_axes() -> None:
    kernel = """
        template <typename T, int C>
        __global__ void k(int b, int n, T* rows, T* points, T* plane, const T* x, const int* at) {
          for (int i = blockIdx.x; i < b; i += gridDim.x) {
            for (int j = threadIdx.x + blockIdx.y * blockDim.x; j < n; j += blockDim.x * gridDim.y) {
              int j2 = at[i * n + j];
              atomicAdd(&rows[(i * n + j) * 3 + 2], T(x[j]));       // -> float-accumulate no
              atomicAdd(&points[(i * n + j2) * 3 + 2], T(x[j]));    // -> float-accumulate yes
              for (int c = 0; c < C; ++c) {
                atomicAdd(plane + (i * C + c) * n + j, T(x[c]));    // -> float-accumulate no
              }
            }
          }
        }
        void launch(float* a, const float* x, const int* at) {
          k<float, 3><<<dim3(32, 16), 256>>>(1, 2, a, a, a, x, at);
        }
    """
    check(kernel)
    check(kernel.replace("i += gridDim.x", "i += gridDim.y").replace("late no", "late yes"))
    check(kernel.replace("blockDim.x * gridDim.y", "blockDim.x * gridDim.x").replace("late no", "late yes"))
    check(kernel.replace("blockDim.x * gridDim.y", "blockDim.x").replace("late no", "late yes"))
    check(kernel.replace("i = blockIdx.x", "i = blockIdx.z").replace("late no", "late yes"))


def test_places_without_a_loop() -> None:
    kernel = """
        #define WIDTH 64
        __global__ void k(float* a, float* b, float* c, const float* x, int n) {
          const int row = blockIdx.y * blockDim.y + threadIdx.y;
          const int column = blockIdx.x * blockDim.x + threadIdx.x;
          if (column >= n || row < 0) return;
          atomicAdd(a + row * n + column, x[n]);                      // -> float-accumulate no
          atomicAdd(b + row * WIDTH + column, x[n]);                  // -> float-accumulate conditional
          atomicAdd(c + column * n + row, x[n]);                      // -> float-accumulate conditional
        }
    """
    check(kernel)
    check(kernel.replace("column >= n", "column > n").replace("late no", "late conditional"))
    check(kernel.replace("+ threadIdx.y;", "+ threadIdx.z;").replace("late no", "late yes")
          .replace("late conditional", "late yes"))  # fmt: skip


def test_a_shared_slice_needs_the_threads_only() -> None:
    check(
        """
        __global__ void k(const float* x, const int* at, float* out, int n) {
          __shared__ float sums[1024];
          __shared__ float both[1024];
          for (int c = 0; c < 4; ++c) {
            atomicAdd(&sums[threadIdx.x * 4 + c], x[c]);     // -> float-accumulate no memory=shared
            atomicAdd(&both[threadIdx.x * 3 + c], x[c]);     // -> float-accumulate yes memory=shared
          }
          atomicAdd(&out[threadIdx.x * 4], x[n]);            // -> float-accumulate yes
          atomicAdd(&out[at[0] * blockDim.x + threadIdx.x], x[n]);   // -> float-accumulate yes
        }
    """.replace("conditional memory", "yes memory")
    )


def test_parameters_of_lambdas_and_loop_macros_are_no_constants() -> None:
    check("""
        __global__ void k(float* a, float* b, const float* x, int n) {
          auto add = [&](int i) {
            atomicAdd(a + i * blockDim.x + threadIdx.x + blockIdx.x * n, x[i]);   // -> float-accumulate yes
          };
          add(3);
        }
    """)


def test_one_thread_of_the_block_and_all_of_them() -> None:
    check("""
        __global__ void k(float* a, float* b, const float* x, int n) {
          if (threadIdx.x == 0) {
            for (int c = 0; c < n; ++c) atomicAdd(a + blockIdx.x * n + c, x[c]);   // -> float-accumulate no
            for (int c = 0; c < n; ++c) atomicAdd(b + blockIdx.x * n + c, x[c]);   // -> float-accumulate yes
          }
          for (int c = 0; c < n; ++c) atomicAdd(b + blockIdx.x * n + c, x[c]);     // -> float-accumulate yes
        }
    """)
