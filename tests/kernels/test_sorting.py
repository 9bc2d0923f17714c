"""Places that a counter gives in arrays that are sorted afterwards, and tickets in some bits of a word."""

from __future__ import annotations

import pytest

from .support import check, judged

_COLLECT = """
        __global__ void collect(const float* x, int* found, int* count, int n) {
          int t = threadIdx.x;
          if (x[t] > 0) { int at = atomicAdd(count, 1); found[at] = t; }
        }
"""


@pytest.mark.parametrize(
    ("host", "verdict"),
    [
        ("collect<<<1, 32>>>(x, thrust::raw_pointer_cast(f.data()), c, n); thrust::sort(f.begin(), f.end());", "no"),
        ("collect<<<1, 32>>>(x, f, c, n); cub::DeviceRadixSort::SortKeys(tmp, bytes, f, g, n);", "no"),
        ("collect<<<1, 32>>>(x, f.data_ptr<int>(), c, n); return std::get<0>(f.sort());", "no"),
        ("thrust::sort(f.begin(), f.end()); collect<<<1, 32>>>(x, f, c, n);", "yes"),
        ("collect<<<1, 32>>>(x, f, c, n); thrust::sort(other.begin(), other.end());", "yes"),
        ("collect<<<1, 32>>>(x, f, c, n); sort(f, n); } void more() { collect<<<1, 32>>>(x, f, c, n);", "yes"),
        ("", "yes"),
    ],
)
def test_an_array_that_is_sorted_behind_each_launch(host: str, verdict: str) -> None:
    found = judged(_COLLECT + "\n        void run() {\n" + host + "\n}\n")
    assert [(said.class_, said.verdict) for _, said in found] == [("order-dependent", verdict)]


def test_arrays_that_a_kernel_sorts_itself() -> None:
    check("""
        __global__ void keys(const float* x, float* out) {
          __shared__ int count; __shared__ float found[128];
          if (x[threadIdx.x] > 1) { int at = atomicAdd(&count, 1); found[at] = x[threadIdx.x]; }  // -> order-dependent no
          __syncthreads();
          bitonic_sort(found, count);
          out[threadIdx.x] = found[threadIdx.x];
        }
        __global__ void block(const int* x, int* out) {
          using Sort = cub::BlockRadixSort<int, 128, 1>;
          __shared__ typename Sort::TempStorage tmp; __shared__ int found[128]; __shared__ int count;
          if (x[threadIdx.x] > 7) found[atomicAdd(&count, 1)] = x[threadIdx.x];                   // -> order-dependent no
          __syncthreads();
          int key[1] = {threadIdx.x < count ? found[threadIdx.x] : 0x7fffffff};
          Sort(tmp).Sort(key);
          out[threadIdx.x] = key[0];
        }
        __global__ void pairs(const float* x, float* k, int* v, int* count) {
          if (x[threadIdx.x] > 1) {
            int at = atomicAdd(count, 1);                                                         // -> order-dependent conditional
            k[at] = x[threadIdx.x];
            v[at] = threadIdx.x;
          }
          sort_pairs(k, v, *count);
        }
        __global__ void keys_alone(const float* x, float* k, int* v, int* count) {
          if (x[threadIdx.x] > 1) {
            int at = atomicAdd(count, 1);                                                         // -> order-dependent yes
            k[at] = x[threadIdx.x];
            v[at] = threadIdx.x;
          }
          sort(k, *count);
        }
        __global__ void room(const float* x, float* out, int* count, int n) {
          int at = atomicAdd(count, 1);                                                           // -> order-dependent conditional
          if (at < n) out[at] = x[threadIdx.x];
          sort(out, n);
        }
    """)  # fmt: skip


def test_a_ticket_in_some_bits_of_a_word() -> None:
    check("""
        __global__ void last(const float* part, float* out, unsigned* state, unsigned blocks) {
          unsigned old = atomicAdd(state, 1u);                                                    // -> order-dependent no
          if ((old & 0xffffu) == blocks - 1) out[0] = part[0] + part[1];
        }
        __global__ void first(unsigned* bits, int* out) {
          unsigned old = atomicOr(bits, 1u << (threadIdx.x % 32));                                // -> order-dependent conditional
          if ((old & 1u) == 0) out[0] = threadIdx.x;
        }
    """)  # fmt: skip
