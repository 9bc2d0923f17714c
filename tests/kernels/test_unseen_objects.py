"""Members of atomics whose object is not declared with its type: they are shown all the same, or told."""

from __future__ import annotations

import pytest

from d9mlint.kernels.scan import scan

from .support import check, repository


def test_a_member_of_a_slot_a_reference_to_one_and_a_cast() -> None:
    check("""
        #include <cuda/atomic>
        template <typename S> __global__ void keyed(S* s, int v) { auto& key = s->first; int e = -1;
          key.compare_exchange_strong(e, v, cuda::memory_order_relaxed); }  // -> order-dependent conditional
        template <typename S> __global__ void slot(S* s, int v) { int e = -1;
          s->first.compare_exchange_strong(e, v, cuda::memory_order_relaxed); }  // -> order-dependent conditional
        template <typename S> __global__ void cast(S* s, int v) { int e = -1;
          auto slot = reinterpret_cast<cuda::atomic<int>*>(s);
          slot->compare_exchange_strong(e, v); }  // -> order-dependent conditional type=cuda::atomic<int>
        template <typename S> __global__ void sum(S* s, float v) {
          auto& x = s->second; x.fetch_add(v * threadIdx.x, cuda::memory_order_relaxed); }  // -> float-accumulate yes
        template <typename S> __global__ void count(S* s) {
          auto& x = s->second; x.fetch_add(1, cuda::memory_order_relaxed); }  // -> commutative-exact no
        template <typename S> __global__ void value(S* s, int v, const N* n) {
          auto& x = s->second; x.fetch_add(v * n[threadIdx.x], cuda::memory_order_relaxed); }  // -> unknown conditional
        template <typename S> __global__ void last(S* s, const int* v) {
          s->first.exchange(v[threadIdx.x], cuda::memory_order_relaxed); }  // -> order-dependent conditional
    """)


@pytest.mark.parametrize(
    "given, captured",
    [
        ("Sums s", "counter = s.data()"),
        ("Sums s, cuda::atomic<float>* p", "counter = p"),
        ("Sums s, cuda::atomic<float>* counter", "="),
    ],
)
def test_a_lambda_of_the_device_with_an_init_capture(given: str, captured: str) -> None:
    check(f"""
        #include <cuda/atomic>
        void run({given}) {{
          launch([{captured}] __device__(int i) {{
            counter->fetch_add(1.5f * i, cuda::memory_order_relaxed);  // -> float-accumulate yes
          }});
        }}
    """)


def test_a_source_that_names_no_atomic_itself() -> None:
    found = scan(
        repository(
            slot_cuh="#include <cuda/atomic>\nstruct Slot { cuda::atomic<int> key; cuda::atomic<float> sum; };",
            a_cu='#include "slot.cuh"\n__global__ void k(Slot* s, float v) { s->sum.fetch_add(v * threadIdx.x); }',
        )
    )
    assert [(s.location.path, s.class_, s.verdict) for s in found.sites] == [("a.cu", "float-accumulate", "yes")]


@pytest.mark.parametrize(
    "text",
    [
        "void host(Slot* a) { a->key.fetch_add(1); auto& b = *a; b.compare_exchange_weak(x, 3); }",
        "__host__ __device__ void both(std::atomic<int>* a) { a->fetch_add(1); a->exchange(2); }",
        "__device__ void one() { std::atomic_ref<int>(x).fetch_add(1); }",
        "void run() { go([=](int i) { counter->fetch_add(1); }); }",
    ],
)
def test_what_runs_on_the_host_or_is_of_the_host_is_no_site(text: str) -> None:
    found = scan(repository(a_cu="#include <cuda/atomic>\n" + text))
    assert (found.sites, found.unchecked) == ((), ())


@pytest.mark.parametrize("text", ["Counter own; own.fetch_add(1);", "grid.halo().exchange(x);"])
def test_a_member_that_may_be_of_another_class_is_told(text: str) -> None:
    found = scan(
        repository(a_cu=f"#include <cuda/atomic>\n__device__ cuda::atomic<int> n;\n__global__ void k() {{ {text} }}")
    )
    assert [s.atomic for s in found.sites] == []
    assert [one.reason for one in found.unchecked] == ["a call of an atomic could not be read, the first in line 3"]


def test_another_member_call_takes_the_rule_of_one_constant_away() -> None:
    check("""
        #include <cuda/atomic>
        template <typename A> __global__ void once(A* c) { c->fetch_add(1); c->fetch_add(1); }  // -> commutative-exact no; commutative-exact no
        template <typename A> __global__ void mixed(A* c, const int* x) {
          c->fetch_add(1);                                                                        // -> unknown conditional
          c->fetch_add(x[threadIdx.x]);                                                           // -> unknown conditional
        }
    """)


def test_a_count_that_is_added_to_a_cell_of_an_unseen_type() -> None:
    check("""
        #include <cuda/atomic>
        template <typename A> __global__ void count(A* n, const size_t* x) {
          std::size_t const found = x[threadIdx.x];
          n->fetch_add(found, cuda::std::memory_order_relaxed);           // -> commutative-exact no
        }
        template <typename A> __global__ void small(A* n, const int* x) {
          int const found = x[threadIdx.x];
          n->fetch_add(found, cuda::std::memory_order_relaxed);           // -> unknown conditional
        }
        template <typename A> __global__ void mixed(A* n, const size_t* x) {
          std::size_t const found = x[threadIdx.x];
          n->fetch_add(found, cuda::std::memory_order_relaxed);           // -> float-accumulate yes
        }
        template <typename S> void run(cuda::atomic<float>* p, S s, const size_t* x) {
          mixed<<<1, 32>>>(p, x);
          mixed<<<1, 32>>>(s.data(), x);
        }
        template <typename S, typename V> __global__ void score(V cell, const S* x, const size_t* n) {
          S found = x[threadIdx.x];
          std::size_t const total = n[0];
          cuda::atomic_ref<S> sum{*cell.data()};
          sum.fetch_add(found / total);                                   // -> unknown conditional
          sum.fetch_add(total);                                           // -> unknown conditional
        }
        template <typename A> __global__ void share(A* n, const size_t* x, float all) {
          std::size_t const found = x[threadIdx.x];
          n->fetch_add(found / all, cuda::std::memory_order_relaxed);     // -> float-accumulate yes
        }
        template <typename T> __global__ void plain(T* n, const size_t* x) {
          std::size_t const found = x[threadIdx.x];
          atomicAdd(n, found);                                            // -> unknown conditional
        }
    """)
