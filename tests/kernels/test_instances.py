"""Types through explicit instantiations of views, pointers behind aliases, and what else a wrapper's body does."""

from __future__ import annotations

from .support import check


def test_views_in_explicit_instantiations() -> None:
    check("""
        template <typename T, bool Wide> __global__ void k(View<T, 2, true> sums, const int* at) {
          atomicAdd(&sums(at[0], 1), weight(at));                           // -> float-accumulate yes type=T=float|double
        }
        template <typename T> void Maker::run(const View<int, 1, true>& at, const View<T, 4, true>& grid, View<T, 2, true>& sums) const {
          k<T, true><<<1, 32>>>(sums, at.data());
        }
        template <typename T> void Maker::run(const View<T, 1, true>& at, int n) const {}
        template void Maker::run(const View<int, 1, true>&, const View<float, 4, true>&, View<float, 2, true>&) const;
        template void Maker::run(const View<int, 1, true>&, const View<double, 4, true>&, View<double, 2, true>&) const;
        template void Maker::run(const View<int, 1, true>& at, int n) const;
    """)


def test_pointers_behind_aliases_of_aliases() -> None:
    check(
        """
        __global__ void k(field_p sums, index_p counts, const int* at) {
          atomicAdd(&sums[at[0]], weight(at));                              // -> float-accumulate yes
          atomicAdd(&counts[at[0]], at[threadIdx.x]);                       // -> commutative-exact no
          atomicAdd(&lost_p[at[0]], at[threadIdx.x]);                       // -> unknown conditional
        }
    """,
        prelude_h="typedef float realw;\ntypedef realw field;\ntypedef field* __restrict__ field_p;\n"
        "typedef unsigned* const index_p;\ntypedef turn_p turn;\ntypedef turn turn_p;\n",
    )


def test_a_wrapper_that_hands_out_places_beside_depends_on_its_callers() -> None:
    check("""
        struct Work { unsigned made; float* x; };
        __device__ void split(Work* work, const int* at) {
          unsigned place = atomicAdd(&work->made, 1);                       // -> order-dependent yes
          work->x[place] = at[0];
        }
        __device__ void outer(Work* work, const int* at) { split(work, at); }  // -> order-dependent depends
        __global__ void k(Work* work, const int* at) { outer(work, at); }   // -> order-dependent yes
    """)


def test_members_of_classes_that_include_their_functions() -> None:
    check(
        """
        #include "forall.h"
        template <int N> void Kernel::run() {
          auto sums = Reshape(values.Write(), N, N);
          forall(9, [=] __device__ (int i) { atomicAdd(&sums(at[i], 0), weight(i)); });   // -> float-accumulate yes
        }
    """,
        forall_h="template <class F> void forall(int n, F f);\n",
        kernel_h='class Base { protected: Vector &values; };\nclass Kernel : Base { template <int N> void run(); };\n#include "a.cu"\n',
        vector_h="class Vector;\nclass Vector { public: virtual double *Write(bool on = true) { return data; } double* data; };\n",
        other_h="class Vector;\nvoid use(Vector& values);\n",
    )


def test_macros_of_one_kind_are_a_type() -> None:
    check("""
        #ifdef WIDE
        #define REAL double
        #define COUNT int
        #else
        #define REAL float
        #define COUNT float
        #endif
        __global__ void k(REAL* sums, COUNT* counts, const int* at) {
          atomicAdd(sums + at[0], weight(at));     // -> float-accumulate yes
          atomicAdd(counts + at[0], weight(at));   // -> unknown conditional
        }
    """)


def test_the_argument_of_a_nested_template_that_stands_for_the_parameter() -> None:
    check("""
        template <typename I, typename W> __global__ void k(optional<view<I, W const*>> weights, W* sums, I* counts, const int* at) {
          atomicAdd(sums + at[0], weight(at));                                // -> float-accumulate yes type=W=float
          atomicAdd(counts + at[0], weight(at));                              // -> commutative-exact no
        }
        template __global__ void k(optional<view<int, float const*>>, float*, int*, const int*);
        template <typename I, typename W> __global__ void lone(optional<view<I, W const*>> weights, const int* at) {
          __shared__ W sums[4];
          atomicAdd(sums + at[0], weight(at));                                // -> float-accumulate yes type=W=double
        }
        template __global__ void lone(optional<view<long, double const*>>, const int*);
        template <typename W> __global__ void other(view<int, W> weights, const int* at) {
          __shared__ W sums[4];
          atomicAdd(sums + at[0], weight(at));                                // -> unknown conditional
        }
        template __global__ void other(unlike<int, double>, const int*);
    """)
