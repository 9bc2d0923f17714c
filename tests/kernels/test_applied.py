"""Compare-and-swap loops that store what a function object computes: judged by the object, where it is known."""

from __future__ import annotations

import pytest

from .support import check, judged, only

_GENERIC = """
        template <typename T, typename Op> __device__ T generic(T* addr, T const& v, Op op) {
          cuda::atomic_ref<T> a(*addr);
          T o = a.load(cuda::memory_order_relaxed);
          T nv;
          do { nv = op(o, v); } while (!a.compare_exchange_weak(o, nv, cuda::memory_order_relaxed));
          return o;
        }
        struct Sum { template <typename T> __device__ T operator()(T const& l, T const& r) { return l + r; } };
        struct Larger { template <typename T> __device__ T operator()(T const& l, T const& r) { return l > r ? l : r; } };
        struct Either { __device__ bool operator()(bool l, bool r) { return l || r; } };
        struct Flags { __device__ int operator()(int l, int r) const { return l & r; } };
        struct Weighed { __device__ bool operator()(bool l, bool r) { return l || weighed(r); } };
        struct Mixed {
          template <typename T> __device__ T operator()(T const& l, T const& r) { return l + r; }
          __device__ int operator()(int l, int r) { return l > r ? l : r; }
        };
"""


@pytest.mark.parametrize(
    ("typed", "call", "verdict"),
    [
        ("float", "generic(&r[0], d[i], Larger{})", "no"),
        ("float", "generic(&r[0], d[i], Sum{})", "yes"),
        ("int", "generic(&r[0], d[i], Sum{})", "no"),
        ("float", "generic(&r[0], d[i], Sum())", "yes"),
        ("float", "Larger pick; generic(&r[0], d[i], pick)", "no"),
        ("float", "auto pick = Larger{}; generic(&r[0], d[i], pick)", "no"),
        ("float", "generic(&r[0], d[i], cuda::std::plus<float>{})", "yes"),
        ("float", "generic(&r[0], d[i], thrust::maximum<float>())", "no"),
        ("bool", "generic(&r[0], d[i], Either{})", "no"),
        ("int", "generic(&r[0], d[i], Flags{})", "no"),
        ("bool", "generic(&r[0], d[i], Weighed{})", "unknown"),
        ("float", "generic(&r[0], d[i], Mixed{})", "unknown"),
        ("float", "generic(&r[0], d[i], Other{})", "unknown"),
    ],
)
def test_a_function_object_that_a_call_hands_in(typed: str, call: str, verdict: str) -> None:
    said = only(
        _GENERIC
        + f"""
        __global__ void k({typed}* r, const {typed}* d) {{ int i = threadIdx.x; {call}; }}
    """
    )
    assert said.verdict == verdict, said.reason
    assert "turn" not in said.reason and "taken" not in said.reason


def test_a_wrapper_that_hands_it_on() -> None:
    sites = judged(
        _GENERIC
        + """
        template <typename T> __device__ T atomic_larger(T* p, T v) { return generic(p, v, Larger{}); }
        template <typename T> __device__ T atomic_sum(T* p, T v) { return generic(p, v, Sum{}); }
        __global__ void k(float* r, const float* d) {
          atomic_larger(r, d[threadIdx.x]);
          atomic_sum(r, d[threadIdx.x]);
        }
    """
    )
    assert [j.verdict for a, j in sites if a.form == "wrapper"] == ["no", "yes"]


def test_the_object_is_a_parameter_of_a_known_class() -> None:
    said = only(
        _GENERIC
        + """
        template <typename T> __device__ void lift(T* addr, T v, Larger op) {
          cuda::atomic_ref<T> a(*addr);
          T o = a.load(), nv;
          do { nv = op(o, v); } while (!a.compare_exchange_weak(o, nv));
        }
        __global__ void k(float* r, const float* d) { lift(r, d[threadIdx.x], Larger{}); }
    """
    )
    assert said.verdict == "no"


def test_a_loop_over_a_swap_of_its_own() -> None:
    said = only(
        _GENERIC
        + """
        template <typename T> __device__ T swap_in(T* addr, T compare, T v) {
          cuda::atomic_ref<T> a(*addr);
          a.compare_exchange_strong(compare, v);
          return compare;
        }
        template <typename T, typename Op> __device__ void looped(T* addr, T v, Op op) {
          T old = *addr, assumed;
          do { assumed = old; old = swap_in(addr, assumed, op(assumed, v)); } while (assumed != old);
        }
        __global__ void k(int* r, const int* d) { looped(r, d[threadIdx.x], Sum{}); }
    """
    )
    assert said.verdict == "no", said.reason


def test_a_lock_stays_a_lock() -> None:
    check("""
        __global__ void k(int* lock, float* sum, const float* d) {
          cuda::atomic_ref<int> gate(*lock);
          int expected = 0;
          while (!gate.compare_exchange_weak(expected, 1)) { expected = 0; } // -> order-dependent yes
          sum[0] = sum[0] + d[threadIdx.x];
        }
    """)


@pytest.mark.parametrize(
    ("function", "handed", "verdict"),
    [
        ("template <typename T> __device__ T smaller(T a, T b) { return ::min(a, b); }", "smaller<float>", "no"),
        ("__device__ float smaller(float a, float b) { return a < b ? a : b; }", "smaller", "no"),
        ("namespace own { __device__ float both(float a, float b) { return a + b; } }", "own::both", "yes"),
        ("template <typename T> __device__ T both(T a, T b) { return a + b; }", "both<float>", "yes"),
        ("__device__ float mixed(float a, float b) { if (a > 0) return a + b; return a > b ? a : b; }", "mixed", "unknown"),
        ("__device__ float both(float a, float b) { return a + b; }\n__device__ int both(int a, int b) { return min(a, b); }",
         "both", "unknown"),
        ("", "smaller<float>", "unknown"),
    ],
)  # fmt: skip
def test_a_function_that_is_named_at_the_call(function: str, handed: str, verdict: str) -> None:
    found = only(f"""
        {function}
        template <typename Op> __device__ float apply(float* addr, float v, Op op) {{
          unsigned* p = (unsigned*)addr;
          unsigned old = *p, seen;
          do {{ seen = old; old = atomicCAS(p, seen, __float_as_uint(op(__uint_as_float(seen), v))); }} while (seen != old);
          return __uint_as_float(old);
        }}
        __global__ void k(float* d, const float* x, const int* at) {{ apply(&d[at[threadIdx.x]], x[threadIdx.x], {handed}); }}
    """)
    assert found.verdict == verdict


def test_a_class_of_a_logical_operation_is_named_by_the_template() -> None:
    sites = judged("""
        template <typename T, typename Op> __device__ void reduce(T* x, T y) {
          unsigned* cell = (unsigned*)x;
          unsigned old, next;
          do {
            old = *cell;
            T result = Op{}(*((T*)&old), y);
            next = *((unsigned*)&result);
          } while (atomicCAS(cell, old, next) != old);
        }
        struct Or {
          __device__ bool operator()(bool a, bool b) { return a || b; }
          __device__ void update(bool* x, bool y) { reduce<bool, Or>(x, y); }
        };
    """)
    assert [(j.class_, j.verdict, j.implements) for a, j in sites if a.name == "reduce"] == [("cas-loop", "no", "or")]
