"""Kernels that are compiled behind a prelude in another file, and conditions that no grammar reads."""

from __future__ import annotations

import pytest

from d9mlint.kernels.scan import scan
from d9mlint.kernels.source.mask import masked
from d9mlint.kernels.source.repository import Repository
from d9mlint.model.kernel import Site

PRELUDE = """
#define KERNEL extern "C" __global__
#define DEVICE __device__
#define GLOBAL
#define ATOMIC_ADD(dest, value) atomicAdd(dest, value)
typedef unsigned long long mm_ulong;
"""
KERNEL = """
KERNEL void force(
    GLOBAL mm_ulong* RESTRICT forces, GLOBAL float* RESTRICT energy,
#ifdef CUTOFF
    GLOBAL const int* RESTRICT tiles,
#elif defined(OTHER)
    GLOBAL const short* RESTRICT tiles,
#endif
    int atoms) {
  ATOMIC_ADD(&forces[tiles[atoms]], (mm_ulong) fixed(energy[0]));
  ATOMIC_ADD(&energy[tiles[0]], energy[threadIdx.x]);
}
"""


def sites(**files: str) -> list[Site]:
    data = {name.replace("_", "."): text.encode() for name, text in files.items()}
    return list(scan(Repository(data, lambda path: data[path])).sites)


def seen(found: list[Site], path: str) -> list[tuple[str, str, str, str]]:
    return [(s.function, s.qualifier, s.class_, s.verdict) for s in found if s.location.path == path]


def test_a_kernel_behind_a_prelude_that_it_does_not_include() -> None:
    found = sites(prelude_cu=PRELUDE, force_cc=KERNEL)
    assert seen(found, "force.cc") == [
        ("force", "__global__", "commutative-exact", "no"), ("force", "__global__", "float-accumulate", "yes"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "other",
    [
        "typedef float mm_ulong;\n",  # of two kinds
        "template <typename mm_ulong> void f(mm_ulong x);\n",
    ],
)
def test_a_name_with_two_meanings_says_no_type(other: str) -> None:
    found = sites(prelude_cu=PRELUDE, force_cc=KERNEL, other_cu=other)
    assert seen(found, "force.cc")[0][2:] == ("unknown", "conditional")


def test_an_alias_inside_of_a_function_is_no_alias_of_others() -> None:
    prelude = PRELUDE.replace("typedef unsigned long long mm_ulong;", "void f() {\n  typedef unsigned mm_ulong;\n}")
    assert seen(sites(prelude_cu=prelude, force_cc=KERNEL), "force.cc")[0][2:] == ("unknown", "conditional")


def test_braces_that_conditions_open_and_close() -> None:
    found = sites(
        a_cu="""
        __global__ void k(float* out, const float* x, int n) {
        #ifdef LOOP
          for (int i = 0; i < n; ++i) {
        #else
          {
            int i = threadIdx.x;
        #endif
            atomicAdd(out, x[i]);
        #ifdef LOOP
          }
        #else
          }
        #endif
        }
        __global__ void next(int* count) { atomicAdd(count, 1); }
    """
    )
    assert seen(found, "a.cu") == [
        ("k", "__global__", "float-accumulate", "yes"), ("next", "__global__", "commutative-exact", "no"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "#if A\nvoid f() { atomicSub(p, 1); {\n#else\nvoid g() { atomicAdd(p, 1); {\n#endif\n}\n",  # atomics in both
        "#if A\nvoid f() {}\n#else\nvoid g() {}\n#endif\n",
        '#if A\nconst char* s = "{";\n#else\nint n; // }\n#endif\n',
        "f(a);\n#if A\ng(b);\n#endif\n",
    ],
)
def test_conditions_that_stay(text: str) -> None:
    assert masked(text.encode()).decode() == text


def test_a_macro_for_the_constraint_of_an_operand() -> None:
    found = sites(
        a_cu=r"""
        #define PTR "l"
        __device__ double add(double* to, double by) {
          double r = 0.0;
          asm volatile("{ atom.add.f64 %0,[%1],%2; }\n" : "=d"(r) : PTR(to), "d"(by) : "memory");
          return r;
        }
        __device__ float most(float* to, float by) { return atomicMax(to, by); }
    """
    )
    assert [(s.function, s.form, s.target_type) for s in found] == [
        ("add", "ptx", "f64"), ("most", "wrapper-def", "float"),
    ]  # fmt: skip


def test_a_word_that_means_the_device_only_in_another_file() -> None:
    """A header of the device, included by the file that defines its words, is none of the host."""
    found = sites(
        builtin_h="#define CALLABLE __host__ __device__\ntemplate <typename T> inline CALLABLE T atomic_add(T* to, T by) {\n"
        '  return atomicAdd(to, by);\n}\n#include "array.h"\n',
        array_h="template <typename T> inline CALLABLE T atomic_add(const Array<T>& a, int i, T by) {\n"
        "  return atomic_add(&a.data[i], by);\n}\n",
        k_cu='#include "builtin.h"\n__global__ void k(Array<float> a, const int* at) { atomic_add(a, at[0], 1.5f * at[1]); }\n',
    )
    assert [(s.function, s.verdict) for s in found if s.location.path == "array.h"] == [("atomic_add", "yes")]


def test_an_old_value_that_is_used_orders_whatever_its_type() -> None:
    found = sites(
        a_cu="template <typename V> __device__ bool insert(V* size, V* out) { V v = atomicAdd(size, 1) + 1; *out = v; return true; }"
    )
    assert [(s.class_, s.verdict) for s in found] == [("order-dependent", "yes")]


def test_what_follows_a_macro_of_qualifiers_is_read() -> None:
    found = sites(
        a_cu="#define HD __host__ __device__\n__global__ void k(float* p, float* x) { atomicAdd(p, x[threadIdx.x]); }\n"
    )
    assert [(s.function, s.verdict) for s in found] == [("k", "yes")]


def test_a_name_that_is_a_function_in_one_branch_and_a_macro_in_the_other() -> None:
    found = sites(
        a_cu="""
        #if __CUDA_ARCH__ < 600
        template <typename T> inline __device__ void myAtomicAdd(T* to, T by) { atomicAdd(to, by); }
        #else
        #define myAtomicAdd(a, b) atomicAdd(a, b)
        #endif
        template <typename Real> __global__ void trace(Real* out, const Real* x) { myAtomicAdd(out, x[threadIdx.x]); }
        void run(float* out, float* x) { trace<<<1, 32>>>(out, x); }
    """
    )
    told = [(s.function, s.atomic, s.class_, s.verdict) for s in found if s.function == "trace"]
    assert told == [("trace", "myAtomicAdd", "float-accumulate", "yes")]
