"""Atomics of ``cuda::atomic`` that functions hand out: ``bucket->scores(i)->fetch_add(x)``."""

from __future__ import annotations

from d9mlint.kernels.scan import scan

from .support import repository

TYPES = """
#pragma once
#include <cuda/atomic>
template <typename T> using AtomicKey = cuda::atomic<T, cuda::thread_scope_device>;
template <typename T> struct Bucket {
  AtomicKey<T>* keys_;
  __device__ AtomicKey<T>* keys(int at) const { return keys_ + at; }
  __device__ static AtomicKey<T>& first(AtomicKey<T>* all) { return all[0]; }
  __device__ int* plain(int at) { return nullptr; }
};
"""
KERNELS = """
#include "types.cuh"
__global__ void k(Bucket<int>* bucket, int* out, AtomicKey<int>* all) {
  int i = threadIdx.x;
  bucket->keys(i % 7)->fetch_add(1, cuda::std::memory_order_relaxed);
  auto* key = bucket->keys(i % 7);
  auto& first = Bucket<int>::first(all);
  int expected = 0;
  if (key->compare_exchange_strong(expected, i)) out[0] = i;
  out[first.fetch_add(1)] = i;
  bucket->plain(i)->fetch_add(1);
}
"""


def test_atomics_that_functions_hand_out() -> None:
    found = scan(repository(types_cuh=TYPES, k_cu=KERNELS))
    assert [(s.location.line, s.atomic, s.class_, s.verdict) for s in found.sites] == [
        (5, "fetch_add", "unknown", "conditional"),
        (9, "compare_exchange_strong", "order-dependent", "yes"),
        (10, "fetch_add", "order-dependent", "yes"),
        (11, "fetch_add", "commutative-exact", "no"),  # whoever declares the function, the cell is an `int`
    ]
    assert found.unchecked == ()
