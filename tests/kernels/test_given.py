"""Types of template parameters that calls do not write: partly given, by macros, in the signature of an instantiation."""

from __future__ import annotations

import pytest

from .support import check, judged, only

KERNEL = """
template <int BLOCK, typename T>
__global__ void k(T* out, const T* x, const int* at) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  atomicAdd(&out[at[i]], x[i]);
}
"""


@pytest.mark.parametrize(
    ("rest", "types"),
    [
        ("void go(float* out, float* x, int* at) { k<256><<<8, 256>>>(out, x, at); }", "T = float"),
        ("void go(int* out, int* x, int* at) { if (at) k<256><<<8, 256>>>(out, x, at); }", "T = int"),
        ("void go(float* out, float* x, int* at) { hipLaunchKernelGGL((k<256>), 8, 256, 0, 0, out, x, at); }",
         "T = float"),
        # A macro that hands everything on to HIP, behind its own words.
        ("#define RUN(...) do { hipLaunchKernelGGL(__VA_ARGS__); } while (false)\n"
         "void go(double* out, double* x, int* at) { RUN((k<256>), 8, 256, 0, 0, out, x, at); }", "T = double"),
        ("#define RUN(f, blocks, ...) hipLaunchKernelGGL(f, blocks, 256, 0, 0, __VA_ARGS__)\n"
         "void go(double* out, double* x, int* at) { RUN((k<256>), 8, out, x, at); }", "T = double"),
        # The launch is in a macro, whose names mean what they mean where it is used.
        ("#define LAUNCH(B) k<B><<<8, B>>>(out, x, at)\n"
         "void go(float* out, float* x, int* at) { if (at) { LAUNCH(32); } else { LAUNCH(64); } }\n"
         "void also(double* out, double* x, int* at) { LAUNCH(32); }", "T = float | double"),
        ("#define LAUNCH(B, P) k<B><<<8, B>>>(P, x, at)\n"
         "void go(float* first, float* x, int* at) { LAUNCH(32, first); }", "T = float"),
        # A macro is given the name of the function that it calls.
        ("#define CALL(F) F(out, x, at)\n"
         "template <typename U> void go(U* out, U* x, int* at) { k<8><<<8, 8>>>(out, x, at); }\n"
         "void all(double* out, double* x, int* at) { CALL(go); }", "T = double"),
        # Explicit instantiations say the types in their signatures, also in macros.
        ("template <int N, typename U> void go(U* out, const U* x, int* at) { k<N><<<8, N>>>(out, x, at); }\n"
         "template void go<32>(float* out, const float* x, int* at);\n"
         "template void go<32>(double* out, double const* x, int*);", "T = float | double"),
        ("template <int N, typename U> void go(U* out, const U* x, int* at) { k<N><<<8, N>>>(out, x, at); }\n"
         "#define MAKE(N, T) \\\n  template void go<N>(T* out, const T* x, int* at)\nMAKE(8, float);\nMAKE(8, hipDoubleComplex);",
         "T = float | hipDoubleComplex"),
    ],
)  # fmt: skip
def test_types_that_calls_do_not_write(rest: str, types: str) -> None:
    found = only(KERNEL + rest)
    assert found.target_type == types
    assert (found.class_, found.verdict) == (
        ("commutative-exact", "no") if types == "T = int" else ("float-accumulate", "yes")
    )


@pytest.mark.parametrize(
    "rest",
    [
        "void go(Lost out, Lost x, int* at) { k<256><<<8, 256>>>(out, x, at); }",
        "#define LAUNCH(B) k<B><<<8, B>>>(lost, lost, at)\nvoid go(int* at) { LAUNCH(32); }",
        "#define LAUNCH(B) k<B><<<8, B>>>(out, x, at)\n",  # never used
    ],
)
def test_what_is_not_seen_is_not_guessed(rest: str) -> None:
    found = only(KERNEL + rest)
    assert (found.class_, found.verdict) == ("unknown", "conditional")


def test_a_macro_with_parameters_before_a_kernel() -> None:
    found = only("""
        #define MY_LAUNCHED(THREADS) \\
            __launch_bounds__(THREADS) static __global__
        template <unsigned BLOCK, typename T>
        MY_LAUNCHED(BLOCK)
        void k(T* out, const int* at, const T* x) { atomicAdd(&out[at[threadIdx.x]], x[threadIdx.x]); }
        void go(float* out, int* at, float* x) { hipLaunchKernelGGL((k<64>), 1, 64, 0, 0, out, at, x); }
    """)
    assert (found.class_, found.verdict, found.target_type) == ("float-accumulate", "yes", "T = float")


def test_members_of_base_classes_and_of_classes_defined_elsewhere() -> None:
    check("""
        template <typename T, int N> struct Held { T* at; };
        template <typename T, int N> struct Cell : Held<T, N> {
          __device__ void add(T x);
          __device__ void count();
          unsigned* many;
        };
        template <typename T, int N> __device__ void Cell<T, N>::add(T x) {
          static_assert(std::is_same<T, float>::value || std::is_same<T, double>::value, "floats only");
          atomicAdd(this->at, x);                          // -> float-accumulate yes type=T=float|double
        }
        template <typename T, int N> __device__ void Cell<T, N>::count() {
          atomicAdd(many, 1u);                             // -> commutative-exact no type=unsigned
          static_assert(!std::is_same_v<T, float>, "");
          atomicAdd(this->at, T(threadIdx.x));             // -> unknown conditional
        }
    """)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("__mt_bfloat16", "float"), ("rocsparse_float_complex", "float"), ("hipDoubleComplex", "float"), ("half_way", "")],
)
def test_names_that_vendors_give_to_floats(name: str, kinds: str) -> None:
    text = f"__global__ void k({name}* p, const {name}* x, const int* at) {{ atomicAdd(&p[at[0]], x[threadIdx.x]); }}"
    assert judged(text)[0][1].class_ == ("float-accumulate" if kinds else "unknown")


def test_a_struct_that_is_defined_under_the_name_of_its_class() -> None:
    check("""
        class Tracker { struct Cell; Cell* cells; };
        struct Tracker::Cell { int n; float f; };
        __global__ void k(Tracker::Cell* cell, const float* x) {
          atomicAdd(&cell->n, (int)x[0]);                  // -> commutative-exact no
          atomicAdd(&cell->f, x[threadIdx.x]);             // -> float-accumulate yes
        }
    """)
