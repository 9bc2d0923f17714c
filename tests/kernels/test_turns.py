"""Turns that blocks take by CUTLASS's semaphores and barriers, whose headers are not at hand."""

from __future__ import annotations

from .support import check


def test_semaphores_and_barriers_between_blocks() -> None:
    check("""
    #include <cutlass/semaphore.h>
    #include <cutlass/barrier.h>
    __global__ void split(int* locks, float* out, const float* x, int split, int splits) {
      Semaphore semaphore(locks + blockIdx.x, threadIdx.x);
      if (split > 0) {
        semaphore.wait(split);                                         // -> order-dependent conditional
        out[threadIdx.x] += x[threadIdx.x];
      }
      semaphore.release(split + 1);                                    // -> order-dependent no
      // semaphore.wait(3);
      cutlass::Barrier::wait_eq(locks, threadIdx.x, blockIdx.x, split); // -> order-dependent conditional
      cutlass::Barrier::wait_eq(locks, threadIdx.x, blockIdx.x, 1);     // -> order-dependent no
      cutlass::Barrier::arrive_inc(locks, threadIdx.x, blockIdx.x);     // -> order-dependent no
    }
    void host(Semaphore& other) { other.wait(3); }
    """)


def test_other_barriers_and_semaphores_are_none() -> None:
    check("""
    __global__ void k(Pool pool) {
      cutlass::arch::NamedBarrier::sync(128, 1);
      pool.wait(3);
    }
    """)
