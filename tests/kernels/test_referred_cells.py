"""Functions and objects that are handed an ``atomic_ref`` by value: they work on the cell that it refers to."""

from __future__ import annotations

from d9mlint.kernels.scan import scan

from .support import check, repository

_PLUS = """
        #include <cuda/atomic>
        struct plus {
          template <typename T, cuda::thread_scope S> __device__ void operator()(cuda::atomic_ref<T, S> r, const T& v) {
            r.fetch_add(v, cuda::memory_order_relaxed);  // -> unknown depends
          }
        };"""


def test_a_function_of_a_reference_is_a_wrapper() -> None:
    check("""
        #include <cuda/atomic>
        __device__ void add(cuda::atomic_ref<float> r, float v) { r.fetch_add(v); }  // -> float-accumulate depends
        __global__ void k(float* p, const float* v) {
          add(cuda::atomic_ref<float>(p[3]), v[threadIdx.x]);                        // -> float-accumulate yes
        }
    """)


def test_a_functor_that_is_called_with_a_reference() -> None:
    check(f"""{_PLUS}
        template <typename T, typename Op> __device__ void apply(T* p, T v, Op op) {{
          op(cuda::atomic_ref<T, cuda::thread_scope_device>{{*p}}, v);                // -> float-accumulate depends
        }}
        __global__ void k(float* p, const float* v) {{ apply(p, v[threadIdx.x], plus{{}}); }}  // -> float-accumulate yes
        __global__ void own(float* p, const float* v) {{
          plus{{}}(cuda::atomic_ref<float>{{p[0]}}, v[threadIdx.x]);                  // -> float-accumulate yes
        }}
    """)


def test_a_functor_of_which_nothing_is_seen_is_shown() -> None:
    check("""
        #include <cuda/atomic>
        template <typename T, typename Op> __global__ void apply(T* p, T v, Op op) {
          op(cuda::atomic_ref<T, cuda::thread_scope_device>{*p}, v);  // -> unknown depends
          int seen = cuda::atomic_ref<T>{*p}.load();
          use(op(seen), cuda::atomic_ref<T>{*p}.load());
        }
    """)


def test_what_is_seen_beside_an_unseen_functor_does_not_speak_for_both() -> None:
    check("""
        #include <cuda/atomic>
        template <typename T, typename Op> __device__ void both(T* p, T v, Op op) {
          atomicMin(p, v);                                             // -> commutative-exact no
          op(cuda::atomic_ref<T, cuda::thread_scope_device>{*p}, v);   // -> unknown depends
        }
        template <typename Op> __global__ void k(float* p, float* v, Op op) { both(p, v[threadIdx.x], op); }  // -> unknown unknown
    """)


def test_an_object_that_takes_a_reference_is_not_meant_by_a_call_with_an_address() -> None:
    check(f"""{_PLUS}
        template <typename Op> __device__ int test(const int* at, int v, Op op) {{ return op(*at, v); }}
        template <typename Op> __device__ void named(float* p, float v, Op op) {{
          cuda::atomic_ref<float> cell{{p[0]}};
          op(cell, v);                                              // -> float-accumulate depends
        }}
        __global__ void k(const int* at, float* p) {{ test(at, 1, plus{{}}); named(p, p[threadIdx.x], plus{{}}); }}  // -> float-accumulate yes
    """)


def test_a_variable_of_that_type_that_is_handed_to_an_unseen_functor_is_told() -> None:
    text = """
        template <typename T, typename Op> __global__ void apply(T* p, T v, Op op) {
          cuda::atomic_ref<T> cell{*p};
          op(cell.load(), v);
          op(cell, v);
        }
    """
    found = scan(repository(a_cu=text))
    assert found.sites == ()
    assert [one.reason for one in found.unchecked] == ["a call of an atomic could not be read, the first in line 5"]
