"""Atomics behind another name: chosen by an enumerator, made as an object of a specialised template."""

from __future__ import annotations

from .support import check, judged

MEMORY = """
enum struct MemoryOp { Set, AtomicAdd, AtomicMax };
template <typename T>
struct Buffer {
  T* p_;
  template <MemoryOp Op>
  __device__ void Update(int i, T x) {
    if constexpr (Op == MemoryOp::Set) { p_[i] = x; }
    else if constexpr (Op == MemoryOp::AtomicAdd) { this->AtomicAdd(i, x); }
    else if constexpr (Op == MemoryOp::AtomicMax) { this->AtomicMax(i, x); }
  }
  __device__ void AtomicAdd(int i, T x) { atomicAdd(p_ + i, x); }
  __device__ void AtomicMax(int i, T x) { atomicMax(p_ + i, x); }
};
"""


def test_a_kernel_that_chooses_an_atomic_by_an_enumerator() -> None:
    kernel = """
#include "memory.h"
__global__ void k(Copy copy, float* x) {
  copy.template Run<int, MemoryOp::AtomicAdd>(x);
  copy.template Run<int, MemoryOp::Set>(x);
  auto view = make_view<float, MemoryOp::AtomicMax, 4>(x);
  other(x, MemoryOp::AtomicAdd, 1);
}
void host(Copy copy) { launch<MemoryOp::AtomicAdd, 1>(copy); }
"""
    found = judged(kernel, memory_h=MEMORY)
    told = [(a.location.line, a.name, j.class_, j.verdict) for a, j in found]
    assert told == [
        (4, "MemoryOp::AtomicAdd", "unknown", "unknown"),
        (6, "MemoryOp::AtomicMax", "commutative-exact", "no"),
    ]
    floats = MEMORY.replace("atomicAdd(p_ + i, x)", "atomicAdd((float*)p_ + i, x)")
    (first, *_) = judged(kernel, memory_h=floats)
    assert (first[1].class_, first[1].verdict) == ("float-accumulate", "yes")


def test_an_enumerator_that_nothing_compares_chooses_nothing() -> None:
    assert (
        judged("""
enum struct MemoryOp { Set, AtomicAdd };
__global__ void k(Copy copy, float* x) { copy.template Run<int, MemoryOp::AtomicAdd>(x); }
""")
        == []
    )


def test_an_object_whose_constructor_is_an_atomic() -> None:
    check("""
namespace arch {
template <typename T, int N, typename E> struct global_red;
template <typename T>
struct global_red<T, 4, float> {
  __device__ global_red(T const& x, void* p, bool guard) {
    asm volatile("@p red.global.add.f32 [%0], %1;" :: "l"(p), "f"(x));  // -> float-accumulate depends
  }
};
}
__global__ void k(float* out, float* x) {
  arch::global_red<float, 4, float>(x[threadIdx.x], (void*)(out + threadIdx.x % 7), true);  // -> float-accumulate yes
  other::global_red<float, 4, float>(x[threadIdx.x], (void*)(out + threadIdx.x % 7), true);
}
""")


def test_loads_that_end_a_wait() -> None:
    """They change nothing; a load elsewhere is left out, and so is one of the host."""
    check("""
#include <cuda/atomic>
__device__ int ready(int* flag) { return __atomic_load_n(flag, __ATOMIC_RELAXED); }
__global__ void k(int* flag, int* out) {
  while (__atomic_load_n(flag, __ATOMIC_RELAXED) == 0) {}  // -> order-dependent no
  cuda::atomic_ref<int, cuda::thread_scope_device> barrier(flag[1]);
  while (barrier.load(cuda::memory_order_acquire) != 1) {}  // -> order-dependent no
  out[0] = barrier.load(cuda::memory_order_relaxed);
}
void host(int* flag) { while (__atomic_load_n(flag, __ATOMIC_RELAXED) == 0) {} }
""")


def test_a_counter_of_a_barrier_is_told_where_it_is_counted() -> None:
    barrier = """
struct group_barrier {
  __device__ group_barrier(unsigned* p) : base(p) {}
  __device__ void inc(int i) { atomicAdd(base + i, 1); }
  __device__ void lock(int i) { while (atomicCAS(base + i, 0, 1) != 0) {} }
  unsigned* base;
};
"""
    text = """
#include "barrier.h"
struct other { __device__ void inc(int i); };
__global__ void k(unsigned* p, other o) {
  group_barrier b(p);
  b.inc(blockIdx.x);  // -> commutative-exact no
  b.lock(0);
  o.inc(1);
}
"""
    check(text, barrier_h=barrier)
    told = [(a.form, j.class_, j.verdict) for a, j in judged(barrier)]
    assert told == [("wrapper-def", "commutative-exact", "no"), ("direct", "order-dependent", "conditional")]
