"""Inline assembler whose operands are numbers: what all threads bring, locks, old values that nothing needs."""

from __future__ import annotations

from .support import check

WRAPPERS = """
    __device__ void once(float* p) { asm volatile("red.global.add.f32 [%0], 0f3F800000;" :: "l"(p)); }           // -> float-accumulate depends
    __device__ int take(int* p) {
      int r;
      asm volatile("atom.global.cas.b32 %0, [%1], 0, 1;" : "=r"(r) : "l"(p));                                    // -> order-dependent depends
      return r;
    }
    __device__ void give(int* p) { asm volatile("atom.global.exch.b32 _, [%0], 0;" :: "l"(p)); }                 // -> order-dependent depends
    __device__ void put(int* p, int v) { asm volatile("atom.global.exch.b32 _, [%0], %1;" :: "l"(p), "r"(v)); }  // -> order-dependent depends
"""


def test_numbers_in_assembler_are_the_same_for_all() -> None:
    check(
        WRAPPERS
        + """
    __global__ void k(float* sum, int* flag, const int* x) {
      once(sum);                                                      // -> float-accumulate no
      give(flag);                                                     // -> order-dependent no
      put(flag, x[threadIdx.x]);                                      // -> order-dependent conditional
      asm("atom.global.add.u32 _, [%0], %1;" :: "l"(flag), "r"(2));   // -> commutative-exact no
    }
    """
    )


def test_a_lock_of_assembler() -> None:
    check(
        WRAPPERS
        + """
    __global__ void k(float* sum, int* lock, const float* x) {
      while (take(lock) != 0) {}                                      // -> order-dependent yes
      sum[0] += x[threadIdx.x];
      give(lock);                                                     // -> order-dependent conditional
    }
    """
    )
