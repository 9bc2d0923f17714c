"""Macros that stand for a type or for an element of an array are seen through."""

from __future__ import annotations

from .support import check

_MACROS = """
#define acc_t at::opmath_type<scalar_t> // the type of sums
#define count_t unsigned
#define AT(T, i, j) ((T)[(i) * (T##_stride.x) + \\
                         (j)])
#define SECOND(i, T) T[i]
#define BOTH(T, U, i) (i > 0 ? T : U)[i]
"""


def test_a_macro_for_a_type_and_one_for_an_element() -> None:
    check(f"""{_MACROS}
        template <typename scalar_t>
        __global__ void k(acc_t* sums, count_t* counts, scalar_t* out, int* n, float* x, const int* at) {{
          atomicAdd(sums + at[threadIdx.x], x[threadIdx.x]);           // -> float-accumulate yes
          atomicAdd(counts + at[threadIdx.x], 3u);                     // -> commutative-exact no
          atomicAdd(&AT(out, at[threadIdx.x], 1), x[threadIdx.x]);     // -> float-accumulate yes
          atomicAdd(&SECOND(at[threadIdx.x], n), at[0]);               // -> commutative-exact no
          atomicAdd(&BOTH(x, x, at[threadIdx.x]), lost);               // -> float-accumulate yes
        }}
        void f(at::Tensor t) {{
          AT_DISPATCH_FLOATING_TYPES(t.scalar_type(), "k", [&] {{ k<scalar_t><<<1, 1>>>(s, c, o, n, x, a); }});
        }}
    """)


def test_a_macro_of_two_meanings_says_nothing() -> None:
    check("""
        #ifdef WIDE
        #define value_t double
        #define OF(T, i) T[i]
        #else
        #define value_t int
        #define OF(i, T) T[i]
        #endif
        __global__ void k(value_t* sums, float* x, const int* at, Lost lost) {
          atomicAdd(sums + at[threadIdx.x], lost.of(0));               // -> unknown conditional
          atomicAdd(&OF(x, at[threadIdx.x]), lost.of(0));              // -> unknown conditional
        }
    """)


def test_a_macro_that_casts_what_it_is_given() -> None:
    check("""
        #define AS_FLOAT(x) (reinterpret_cast<float*>(&(x))[0])
        #define AS_COUNTS(x) (reinterpret_cast<unsigned*>(x))
        template <typename T>
        __global__ void k(T* out, void* counts, const float* x) {
          atomicAdd(&AS_FLOAT(out[threadIdx.x % 4]), x[threadIdx.x]);  // -> float-accumulate yes
          atomicAdd(AS_COUNTS(counts) + 1, 1u);                        // -> commutative-exact no
        }
    """)


def test_variables_that_a_macro_declares() -> None:
    check(
        """
        #include "setup.h"
        void gpu() {
          SUMS_SETUP;
          RAJA::forall<cuda>(range, [=] __device__ (int i) {
            ADD(RAJA::cuda_atomic, at[i], x[i]);                       // -> float-accumulate yes
            RAJA::atomicAdd<RAJA::cuda_atomic>(&counts[at[i]], 3);     // -> commutative-exact no
            RAJA::atomicAdd<RAJA::cuda_atomic>(&elsewhere[at[i]], at[i]);  // -> unknown conditional
          });
        }
        void cpu() {
          SUMS_SETUP;
          RAJA::forall<loop>(range, [=] (int i) { ADD(RAJA::seq_atomic, at[i], x[i]); });  // -> float-accumulate no
        }
    """,
        setup_h="#define ADD(policy, i, v) RAJA::atomicAdd<policy>(&sums[i], (v))\n"
        "#define SUMS_SETUP \\\n  float* sums = m_sums; \\\n  int * counts = m_counts;",
    )
