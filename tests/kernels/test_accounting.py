"""No call of an atomic is lost in silence: what hides it from the grammar is known, what cannot be read is told."""

from __future__ import annotations

import pytest

from d9mlint.kernels.scan import scan

from .support import check, repository

_VECTOR = """
struct Vec { float x; HD Vec(float a) : x(a) {} HD Vec() {} };
__device__ inline void add_to(float* p, float v) { atomicAdd(p, v); }
__global__ void k(float* out, const int* index, const float* v) { add_to(out + index[threadIdx.x], v[threadIdx.x]); }
"""


@pytest.mark.parametrize(
    "define",
    [
        "#define HD __host__ __device__",
        "#define HD",
        "#ifdef __CUDACC__\n#define BOTH __host__ __device__\n#else\n#define BOTH\n#endif\n#define HD BOTH inline",
        "#define HD __device__ __attribute__((always_inline)) // on the device",
    ],
)
def test_a_macro_of_qualifiers_before_a_constructor_hides_nothing(define: str) -> None:
    other = "#define USED __device__\n"
    found = scan(repository(a_cu=f"{define}\n{other}{_VECTOR}")).sites
    assert [(s.function, s.atomic, s.form, s.verdict) for s in found] == [
        ("add_to", "atomicAdd", "wrapper-def", "yes"),
        ("k", "add_to", "wrapper", "yes"),
    ]


def test_a_macro_with_more_in_it_is_no_qualifier() -> None:
    found = scan(
        repository(a_cu="#define TYPE __device__ float\nTYPE* cell;\n__global__ void k() { atomicAdd(cell, 2.f); }")
    )
    assert [s.function for s in found.sites] == ["k"]


@pytest.mark.parametrize(
    "text, reason",
    [
        ('const char* code = R"x( if ("a) atomicAdd(p, 1.f); )x";', "a call of an atomic could not be read, the first in line 1"),
        ("auto f = atomicAdd<float>(\n#if A\n p(0),\n#else\n q(0),\n#endif\n 1.f);\n" * 2,
         "2 calls of atomics could not be read, the first in line 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told(text: str, reason: str) -> None:
    found = scan(repository(a_cu=text))
    assert (found.sites, [one.reason for one in found.unchecked]) == ((), [reason])


@pytest.mark.parametrize(
    "text",
    [
        "__device__ double atomicAdd(double* p, double v);",
        "static __inline__ __device__ void atomAdd(float *p, float v) {}",
        "#define ADD(T) __device__ T atomicAdd(T* p, T v) { return v; }",
        "#if 0\nvoid f() { atomicAdd(p, 1.f); }\n#endif",
        "// atomicAdd(p, 1.f)\n/* atomicAdd(p, 1.f) */ const char* s = \"atomicAdd(p, 1.f)\";",
        "using R = decltype(atomicAdd(nullptr, 1));",
        "void f(std::vector<int>& v) { std::atomicAdd(&v[0], 1); }",
    ],
)  # fmt: skip
def test_what_is_no_call_is_not_told(text: str) -> None:
    assert scan(repository(a_cu=text)).unchecked == ()


def test_cuda_in_a_template_for_format() -> None:
    code = """
auto code = fmt::format(R"(
__device__ void add_cell({T}* out, {T} v) {{ atomicAdd(out, v); }}
__global__ void {NAME}(float* out, const int* index) {{
  atomicAdd(out + index[threadIdx.x], 0.5f * threadIdx.x);
}}
)", T, NAME);
"""
    found = scan(repository(a_cu=code))
    assert [(s.location.line, s.verdict) for s in found.sites] == [(3, "conditional"), (5, "yes")]
    assert found.unchecked == ()


def test_a_wrapper_of_several_targets_is_judged_by_each() -> None:
    check("""
        __device__ void count(const float* x, int* counter, float* sum) {
          atomicAdd(counter, 1);                                   // -> commutative-exact no
          atomicAdd(sum, x[threadIdx.x]);                          // -> float-accumulate depends
        }
        __device__ void slot(const float* x, int* counter, float* out) {
          int at = atomicAdd(counter, 1);                          // -> order-dependent yes
          out[at] = x[threadIdx.x];
        }
        __global__ void k(const float* x, int* n, float* s) { count(x, n, s); }   // -> float-accumulate yes
        __global__ void places(const float* x, int* n, float* s) { slot(x, n, s); }  // -> order-dependent yes
    """)


def test_a_wrapper_of_a_library_that_is_not_at_hand_is_told() -> None:
    kernel = "__global__ void k(float* p) { lib::my_atomic_add_f(p, 1.f); }"
    found = scan(repository(a_cu=f"{kernel}\nvoid host() {{ run_atomic_add_all(1); }}"))
    assert [one.reason for one in found.unchecked] == ["a call of an atomic could not be read, the first in line 1"]
    defined = "namespace lib { __device__ void my_atomic_add_f(float* p, float v) { *p += v; } }"
    assert scan(repository(a_cu=f"{defined}\n{kernel}")).unchecked == ()
    assert scan(repository(a_cu=kernel, b_h="#define my_atomic_add_f(p, v) store(p, v)")).unchecked == ()


def test_a_reference_that_a_function_makes_is_read_and_one_of_unknown_make_is_shown() -> None:
    text = """
#include <cuda/atomic>
template <typename I> __global__ void k(I counts, const int* at, Bins bins) {
  auto r = make_atomic_ref<cuda::thread_scope_device>(counts[at[threadIdx.x]]);
  r.fetch_add(1, cuda::memory_order_relaxed);
  make_atomic_ref<cuda::thread_scope_device>(counts[0]).fetch_max(at[threadIdx.x]);
  auto other = bins.of(at[threadIdx.x]);
  other.fetch_add(1, cuda::memory_order_relaxed);
}
void host(std::atomic<int>& n) { n.fetch_add(1); }
"""
    found = scan(repository(a_cu=text))
    assert [(s.location.line, s.atomic, s.scope) for s in found.sites] == [
        (5, "fetch_add", "device"),
        (6, "fetch_max", "device"),
        (8, "fetch_add", "system"),
    ]
    assert found.unchecked == ()


def test_an_array_of_objects_of_any_type() -> None:
    found = scan(
        repository(
            a_cu="""
#include <cuda/atomic>
template <typename A> __global__ void k(A** many, A* one, int i) {
  many[i]->fetch_add(threadIdx.x, cuda::memory_order_relaxed);
  one[0].fetch_add(threadIdx.x);
}
"""
        )
    )
    assert [(s.location.line, s.atomic) for s in found.sites] == [(4, "fetch_add"), (5, "fetch_add")]
    assert not found.unchecked


def test_a_piece_of_a_kernel_that_calls_what_is_made_elsewhere_is_told() -> None:
    text = "{% block code %}\nint at = {{ index }}[i];\n_own_atomicAdd(&{{ sums }}[at], value);\n{% endblock %}\n"
    found = scan(repository(a_cu=text))
    assert found.sites == ()
    told = [(one.path, one.reason) for one in found.unchecked]
    assert told == [("a.cu", "a call of an atomic could not be read, the first in line 3")]
