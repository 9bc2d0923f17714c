"""Types of template parameters, across macros, functors and files."""

from __future__ import annotations

import pytest

from d9mlint.kernels.judging.known.scalars import kind

from .support import check, judged, only

_KERNEL = """
template <typename T> __global__ void k(T* out, const T* x, const int* at) {
  atomicAdd(&out[at[threadIdx.x]], x[threadIdx.x]);
}
"""


@pytest.mark.parametrize(
    ("rest", "types"),
    [
        # Macros in macros; a macro's parameter that is not the first.
        ("#define TWO(I, T) template struct Go<T, I>;\n#define ONE(T) TWO(int, T) TWO(long, T)\nONE(float)\nONE(double)\n"
         "template <typename T, typename I> struct Go { void run(T* p) { k<T><<<1, 1>>>(p, p, 0); } };",
         "T = float | double"),
        # A partial specialisation: T is the second argument, other devices do not count.
        ("template <typename D, typename T> struct Go;\n"
         "template <typename T> struct Go<GPUDevice, T> { void run(T* p) { k<T><<<1, 1>>>(p, p, 0); } };\n"
         "template struct Go<GPUDevice, float>; template struct Go<CPUDevice, int>;", "T = float"),
        # Deduced from an argument, through a view of the caller's own template.
        ("template <typename S> void go(typename TTypes<S, 4>::Tensor out) { k<<<1, 1>>>(out.data(), x, 0); }\n"
         "template void go<Eigen::half>(int);", "T = half"),
        # The accumulation type of a dispatched scalar.
        ("void go(at::Tensor t) { AT_DISPATCH_FLOATING_TYPES(t.scalar_type(), \"k\", [&] {\n"
         "  using acc_t = at::acc_type<scalar_t, true>; k<acc_t><<<1, 1>>>(a, b, c); }); }", "T = float | double"),
        # Index and value dispatched together.
        ("void go(at::Tensor t) { AT_DISPATCH_INDEX_TYPES(i, \"k\", [&] { AT_DISPATCH_FLOATING_TYPES(t, \"k\", [&] {\n"
         "  k<scalar_t><<<1, 1>>>(a, b, c); }); }); }", "T = float | double"),
        ("void go(at::Tensor t) { AT_DISPATCH_INDEX_TYPES(i, \"k\", [&] { AT_DISPATCH_FLOATING_TYPES(t, \"k\", [&] {\n"
         "  k<index_t><<<1, 1>>>(a, b, c); }); }); }", "T = int32_t | int64_t"),
        # A name of the caller in the body of a macro.
        ("#define LAUNCH(N) k<T><<<N, N>>>(p, p, 0);\n"
         "template <typename T> void go(T* p) { LAUNCH(3) }\nvoid all(int* p) { go<int>(p); }", "T = int"),
        # A dispatch macro of the repository.
        ("#define MY_DISPATCH(TYPE, ...) switch (TYPE) { case at::ScalarType::Float: { using scalar_t = float; "
         "return __VA_ARGS__(); } case at::ScalarType::Long: { using scalar_t = int64_t; return __VA_ARGS__(); } }\n"
         "void go(at::Tensor t) { MY_DISPATCH(t.scalar_type(), [&] { k<scalar_t><<<1, 1>>>(a, b, c); }); }",
         "T = float | int64_t"),
        ("// k<float>(x) in a comment\nconst char* name = \"k<float>\";", "T"),
    ],
)  # fmt: skip
def test_types(rest: str, types: str) -> None:
    said = only(_KERNEL + rest)
    assert said.target_type == types
    kinds = {kind(t) for t in types.partition(" = ")[2].split(" | ")}
    expected = {"": "conditional", "integer": "no", "float": "yes"}
    assert said.verdict == (expected[kinds.pop()] if len(kinds) == 1 else "conditional")


def test_kernel_in_a_header_used_by_another_file() -> None:
    header = "template <typename V> __global__ void fill(V* out, const V* x) { atomicAdd(out, x[threadIdx.x]); }\n"
    found = judged(header, b_cu='#include "a.cu"\nvoid go(double* p) { fill<double><<<1, 1>>>(p, p); }')
    assert [j.target_type for _, j in found] == ["V = double"]


def test_specialisation_for_complex_numbers() -> None:
    found = judged("""
        template <typename T> struct Update { __device__ void operator()(T* to, T v) { atomicAdd(to, v); } };
        template <typename T> struct Update<std::complex<T>> {
          __device__ void operator()(std::complex<T>* to, std::complex<T> v) {
            T* parts = reinterpret_cast<T*>(to);
            atomicAdd(parts, v.real());
          }
        };
        template struct Run<Update<complex128>>;
        template struct Run<Update<int>>;
    """)
    assert [j.target_type for _, j in found][-1] == "T = double"


def test_recursive_templates_end() -> None:
    said = only(
        "template <typename T> void again(T* p) { again<T*>(&p); k<T><<<1, 1>>>(p, p, 0); }\n"
        "template <typename T> void other(T* p) { again<T>(p); other<T>(p); }\n" + _KERNEL
    )
    assert said.verdict == "conditional"


@pytest.mark.parametrize(
    ("header", "verdict", "types"),
    [
        ("THCGenerateFloatTypes.h", "yes", "T = half | float | double"),
        ("THCGenerateHalfType.h", "yes", "T = half"),
        ("THCGenerateAllTypes.h", "conditional", ""),
        ("THCTensor.h", "conditional", "T"),
    ],
)
def test_headers_that_compile_a_generic_file_for_each_type(header: str, verdict: str, types: str) -> None:
    said = only(f'{_KERNEL}\n#include "generic/K.cu"\n#include "{header}"\n')
    assert said.verdict == verdict, said.reason
    assert not types or said.target_type == types


def test_pointers_that_objects_give() -> None:
    check("""
        void count(int n, const int* at, THCDeviceTensor<float, 3> grid) {
          SyncArray<int> counts(n);
          auto data = counts.device_data();
          loop(n, [=] __device__(int i) {
            atomicAdd(data + at[i], 1);                 // -> commutative-exact no
          });
          loop(n, [=] __device__(int i) {
            atomicAdd(grid[at[i]][0][i].data(), 1.5f * at[i]);   // -> float-accumulate yes
          });
        }
    """)


def test_macros_that_are_handed_on_by_macros_of_another_header() -> None:
    instantiations = """
        #define FOR_FLOATS(_macro) template _macro(float, int); template _macro(double, long)
        #define FOR_ALL(_macro) FOR_FLOATS(_macro); template _macro(std::complex<float>, int)
    """
    declarations = "#define DECLARE_GO(V, I) void go(int n, const V* x, const I* at, V* out)\n"
    text = """#include "types.h"
#include "go.h"
template <typename V, typename I> __global__ void scatter(int n, const V* x, const I* at, V* out) {
  atomicAdd(out + at[threadIdx.x], x[threadIdx.x]);  // -> float-accumulate yes type=V=float|double|std::complex<float>
}
template <typename I> __global__ void count(const I* at, I* out) {
  atomicAdd(out + at[threadIdx.x], 1);  // -> commutative-exact no type=I=int|long
}
template <typename V, typename I> void go(int n, const V* x, const I* at, V* out) {
  scatter<<<n, 256>>>(n, x, at, out);
  count<<<n, 256>>>(at, at);
}
FOR_ALL(DECLARE_GO);
"""
    check(text, types_h=instantiations, go_h=declarations)


@pytest.mark.parametrize(
    ("default", "used", "verdict"),
    [
        ("uint32_t", "Matrix<int>", "no"),
        ("float", "Matrix<int>", "yes"),
        ("uint32_t", "Matrix<int, float>", "yes"),
        ("Word", "Matrix<int>", "no"),
    ],
)
def test_the_default_of_a_class_templates_parameter(default: str, used: str, verdict: str) -> None:
    said = only(f"""
        using Word = unsigned;
        template <typename Index> __global__ void k(Index* o, const Index* a) {{ atomicAdd(o + a[0], a[threadIdx.x]); }}
        template <typename Value, typename Index = {default}> struct Matrix {{
          void run(Index* o, const Index* a) {{ k<Index><<<1, 32>>>(o, a); }}
        }};
        void go(void* o) {{ {used} m; m.run(o, o); }}
    """)
    assert said.verdict == verdict, said


def test_a_template_is_not_instantiated_for_its_full_specialisations() -> None:
    check("""
    template <typename T> __global__ void k(T* out, const T* x, const int* at) {
      atomicAdd(&out[at[0]], x[threadIdx.x]); // -> float-accumulate yes type=T=float
    }
    template <> __global__ void k<int>(int* out, const int* x, const int* at) {
      atomicAdd(&out[at[0]], x[threadIdx.x]); // -> commutative-exact no type=int
    }
    template <> k<float> make(int n);
    template <typename T> void go(T* p) { k<T><<<1, 1>>>(p, p, 0); }
    void all(float* p, int* q) { go(p); go(q); }
    """)


def test_an_object_that_only_chooses_an_overload_is_no_target() -> None:
    check("""
    struct device_atomic {};
    template <typename T> __device__ T atomicAdd(device_atomic, T* p, T v);
    __global__ void k(double* out, unsigned* n, const int* at) {
      ns::atomicAdd(ns::device_atomic{}, out + at[0], 0.5 * threadIdx.x); // -> float-accumulate yes type=double
      ns::atomicAdd(ns::device_atomic{}, n + at[1], 3u + threadIdx.x); // -> commutative-exact no type=unsigned
    }
    """)


@pytest.mark.parametrize(
    ("name", "calls", "verdict"),
    [
        ("IdxT", "", "no"),
        ("index_t", "", "no"),
        ("int_t", "", "no"),
        ("i_t", "", "no"),
        ("IndexType", "void all(int* p, float* q) { go(p); go(q); }", "no"),
        ("Index", "void all(float* q) { go(q); }", "yes"),
        ("T", "", "conditional"),
        ("Indexed", "", "conditional"),
    ],
)
def test_types_that_are_named_for_indices(name: str, calls: str, verdict: str) -> None:
    """Integers, unless all that the sources show are floats."""
    said = only(f"""
    template <typename {name}> __global__ void k({name}* out, const {name}* x) {{ atomicAdd(&out[3], x[threadIdx.x]); }}
    template <typename {name}> void go({name}* p) {{ k<<<1, 32>>>(p, p); }}
    {calls}
    """)
    assert said.verdict == verdict
