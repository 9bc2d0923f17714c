"""Reductions by bulk copies (CuTe), calls through a class that a template is given, types that follow GLSL's names."""

from __future__ import annotations

import pytest

from d9mlint.kernels.scan import scan

from .support import check, judged, only, repository

COPIES = """
    #include <cute/tensor.hpp>
    using Copy = cute::SM90_TMA_REDUCE_ADD;                                        // -> float-accumulate conditional
    // SM90_TMA_REDUCE_ADD in a comment
    using Known = decltype(make_tma_copy(SM90_TMA_REDUCE_ADD{}, tensor, layout));
    void run(float* p) {
      auto add = make_tma_copy(SM90_TMA_REDUCE_ADD{}, make_tensor(p), layout);     // -> float-accumulate conditional
      auto max = make_tma_copy(SM90_TMA_REDUCE_MAX{}, make_tensor(p), layout);     // -> commutative-exact no
      scatter<float, cute::SM90_BULK_REDUCE_ADD>(p);                               // -> float-accumulate conditional
    }
    template <typename T> void f() { static_assert(!std::is_same_v<T, cute::SM90_TMA_REDUCE_ADD>); }
    struct SM90_TMA_REDUCE_ADD {};
"""


def test_copies_that_reduce() -> None:
    check(COPIES)
    reasons = [judgement.reason for _, judgement in judged(COPIES)]
    assert reasons[0].startswith("float `SM90_TMA_REDUCE_ADD` (elements of the tensor): addends from several threads")


BINS = """
    struct Counts {
      unsigned long long n;
      static __device__ void AtomicAdd(Counts* to, Counts from) { atomicAdd(&to->n, from.n); }  // -> commutative-exact no
    };
    struct Sums {
      double sum;
      static __device__ void AtomicAdd(Sums* to, Sums from) { atomicAdd(&to->sum, from.sum); }  // -> float-accumulate depends
    };
    template <typename BinT> __global__ void merge(BinT* all, const BinT* mine, const int* at) {
      BinT::AtomicAdd(all + at[threadIdx.x], mine[threadIdx.x]);                                // -> unknown conditional
    }
"""


def test_a_method_of_the_class_that_a_template_is_given() -> None:
    check(BINS)
    head = "template <typename BinT> __global__ void merge(BinT* all, const BinT* mine, const int* at) {"
    alias = "template <class O> __global__ void merge(void* to, void* from, int* at) { using BinT = typename O::BinT; " \
        "auto all = reinterpret_cast<BinT*>(to); auto mine = reinterpret_cast<BinT*>(from);"  # fmt: skip
    assert head in BINS
    check(BINS.replace(head, alias).replace("unknown conditional", "float-accumulate conditional"))


def test_a_class_of_another_name_is_not_meant() -> None:
    named = BINS.replace(
        "template <typename BinT> __global__ void merge(BinT* all, const BinT* mine,",
        "__global__ void merge(Other* all, const Other* mine,",
    ).replace("BinT::AtomicAdd", "Other::AtomicAdd")
    assert [a.function.name for a, _ in judged(named) if a.function is not None] == ["AtomicAdd", "AtomicAdd"]


@pytest.mark.parametrize(
    "vector, class_", [("vec4", "float-accumulate"), ("dvec3", "float-accumulate"), ("ivec2", "commutative-exact")]
)
def test_vectors_are_called_as_in_glsl(vector: str, class_: str) -> None:
    kernel = f"__global__ void k({vector}* o, const int* i, {vector} v) {{ atomicAdd(&o[i[threadIdx.x]][1], v[0] * threadIdx.x); }}"
    assert only(kernel).class_ == class_


def test_a_copy_reduces_where_it_is_used() -> None:
    text = """
    #include <cute/arch/copy_sm90_tma.hpp>
    template <class Params> struct Kernel {
      static Params make(float* dq) {
        auto tma_dq = cute::make_tma_copy(SM90_TMA_REDUCE_ADD{}, make_tensor(dq, shape), layout);
        return Params{tma_dq};
      }
      __device__ void reduce(Params const& params) {
        copy(plain, from, to);
        copy(params.tma_dq, from, to);
      }
    };
    """
    found = scan(repository(a_cu=text)).sites
    assert [(site.location.line, site.function, site.class_) for site in found] == [
        (10, "Kernel::reduce", "float-accumulate")
    ]
