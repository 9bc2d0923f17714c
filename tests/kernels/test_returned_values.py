"""Old values on their way out of a wrapper: what becomes of them is up to who calls it."""

from __future__ import annotations

import pytest

from .support import check


def test_an_old_value_that_is_decoded_before_it_is_returned() -> None:
    check("""
        __device__ float decode(int v) { return __int_as_float(v); }
        __device__ float lower(float* a, int v) {
          int old = atomicMin((int*)a, v);                                            // -> order-dependent depends
          return decode(old);
        }
        __global__ void drops(float* s, const int* x) { lower(&s[x[0]], x[threadIdx.x]); }  // -> commutative-exact no
        __global__ void uses(float* s, const int* x, float* out) {
          out[threadIdx.x] = lower(&s[x[0]], x[threadIdx.x]);                         // -> order-dependent yes
        }
    """)


@pytest.mark.parametrize(
    "function, verdict",
    [
        ("__device__ int log[9]; __device__ int keep(int old) { log[0] = old; return old; }", "yes"),
        ("__device__ int* seen; __device__ int keep(int old) { *seen = old; return old; }", "yes"),
        ("struct Log { int last; }; __device__ Log* log; __device__ int keep(int old) { log->last = old; return old; }",
         "yes"),
        ("__device__ int keep(int old) { return push(old, 1); }", "conditional"),
        ("", "conditional"),
    ],
)  # fmt: skip
def test_an_old_value_that_a_function_may_store_is_used(function: str, verdict: str) -> None:
    check(f"""
        {function}
        __device__ int lower(int* a, int v) {{
          int old = atomicMin(a, v);                                                   // -> order-dependent {verdict}
          return keep(old);
        }}
        __global__ void drops(int* s, const int* x) {{ lower(s, x[threadIdx.x]); }}    // -> order-dependent {verdict}
    """)


def test_old_values_that_are_gathered_in_a_struct() -> None:
    check("""
        struct Four { int d[4]; };
        __device__ Four flip(Four* a, Four v) {
          Four m;
          for (int i = 0; i < 4; i++) m.d[i] = atomicXor(&a->d[i], v.d[i]);            // -> order-dependent depends
          return m;
        }
        __global__ void drops(Four* a, const Four* v) { flip(a, v[threadIdx.x]); }     // -> commutative-exact no
        __global__ void uses(Four* a, const Four* v, Four* out) {
          out[threadIdx.x] = flip(a, v[threadIdx.x]);                                  // -> order-dependent yes
        }
    """)


@pytest.mark.parametrize(
    "made, stored",
    [
        ("View m = view;", "m.d[i] = "),  # points to memory of others
        ("View m; m.d = all;", "m.d[i] = "),
        ("View m; m.open(all);", "m.d[i] = "),
        ("View& m = view;", "m.d[i] = "),
        ("View* m = &view;", "m->d[i] = "),
    ],
)
def test_old_values_that_are_stored_through_an_object_are_used(made: str, stored: str) -> None:
    check(f"""
        __device__ int flip(int* a, int* all, View view, int v, int i) {{
          {made}
          {stored}atomicXor(a, v);                                                   // -> order-dependent yes
          return 0;
        }}
        __global__ void k(int* a, int* all, View v) {{ flip(a, all, v, 1 << threadIdx.x, 2); }}  // -> order-dependent yes
    """)


def test_a_position_is_shown_although_another_user_has_a_type_that_is_not_visible() -> None:
    check(
        """
        #include <cuda/atomic>
        template <typename A> __global__ void fill(int* buf, A* c, int* out) {
          auto at = c->fetch_add(1, cuda::std::memory_order_relaxed);   // -> order-dependent yes
          out[at] = buf[threadIdx.x];
        }
        template <typename A> __device__ void flush(int n, int* buf, A* c, int* out) {
          int at;
          if (threadIdx.x == 0) at = c->fetch_add(n, cuda::std::memory_order_relaxed);   // -> order-dependent yes
          at = __shfl_sync(~0u, at, 0);
          *(out + at + threadIdx.x) = buf[threadIdx.x];
        }
        template <typename A> __global__ void kernel(int* buf, A* c, int* out) { flush(32, buf, c, out); }  // -> order-dependent yes
        void one(int* buf, cuda::atomic<int>* c, int* out) {
          fill<<<1, 32>>>(buf, c, out);
          kernel<<<1, 32>>>(buf, c, out);
        }
        template <typename S> void two(int* buf, S s, int* out) {
          fill<<<1, 32>>>(buf, s.data(), out);
          kernel<<<1, 32>>>(buf, s.data(), out);
        }
        """
    )


def test_what_a_lambda_gives_to_the_call_that_runs_it() -> None:
    check("""
        #include <cuda/atomic>
        __device__ void flush(int n, int* buf, cuda::atomic<int>* c, int* out) {
          auto const at = cg::invoke_one_broadcast(tile, [&]() { return c->fetch_add(n); });   // -> order-dependent yes
          *(out + at + threadIdx.x) = buf[threadIdx.x];
        }
    """)


def test_a_use_of_the_old_value_hides_no_sum_of_an_unseen_type() -> None:
    from .support import judged

    ((_, said),) = judged("template <typename T> __global__ void k(T* p, T v) { keep(atomicAdd(p, v * threadIdx.x)); }")
    assert (said.class_, said.verdict) == ("order-dependent", "conditional")
    assert "sums of floats vary by themselves" in said.reason
