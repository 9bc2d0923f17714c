"""Kokkos: its atomics by their namespace, views whose elements are changed atomically, views that scatter."""

from __future__ import annotations

from d9mlint.kernels.judging.judge import judge
from d9mlint.kernels.sites import atomics

from .support import check, judged, repository


def test_atomics_of_kokkos_by_the_types_of_views() -> None:
    check("""
        template <class Scalar> struct Bins {
          using field_t = Kokkos::View<double*[3], Kokkos::LayoutLeft>;
          using sum_t = typename field_t::non_const_value_type;
          field_t field; Kokkos::View<int*> counts; Kokkos::View<sum_t**> sums; Kokkos::View<Scalar*> any;
          KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
            Kokkos::atomic_add(&field(i % 3, 0), 1.5 * i);            // -> float-accumulate yes type=double
            Kokkos::atomic_inc(&counts(i));                           // -> commutative-exact no
            const int at = Kokkos::atomic_fetch_add(&counts(0), 1);   // -> order-dependent yes return=index
            any(at) = Scalar(i);
            desul::atomic_add(&sums(0, 1), sum_t(i), order, scope);   // -> float-accumulate yes type=double
            Kokkos::atomic_max(&counts(1), i);                        // -> commutative-exact no
            Kokkos::atomic_add(&any(i % 3), Scalar(i));               // -> unknown conditional
            Kokkos::atomic_add(&any(i % 7), Scalar(1));               // -> unknown conditional
            Kokkos::atomic_fetch_mul(&field(i % 3, 1), 1.5 * i);      // -> float-accumulate yes
            if (Kokkos::atomic_compare_exchange(&counts(2), 0, i) == 0) any(0) = i;  // -> order-dependent yes
          }
        };
    """)


def test_operations_of_alpaka() -> None:
    check("""
        struct Grows {
          template <class Acc> ALPAKA_FN_ACC void operator()(Acc const& acc, float* sum, uint32_t* n, uint32_t* at, float* out) const {
            float const x = 0.1f * alpaka::getIdx<alpaka::Grid, alpaka::Threads>(acc)[0];
            alpaka::atomicOp<alpaka::AtomicAdd>(acc, sum, x);                           // -> float-accumulate yes
            ::alpaka::atomicOp<::alpaka::AtomicMax>(acc, n, uint32_t(x));               // -> commutative-exact no
            auto const slot = alpaka::atomicOp<alpaka::AtomicAdd>(acc, &at[0], 1u);     // -> order-dependent yes return=index
            out[slot] = x;
            auto const seen = alpaka::atomicCas(acc, n, uint32_t{0u}, uint32_t(x));     // -> order-dependent yes
            out[7] = seen;
          }
        };
    """)


def test_wrappers_of_operations_of_alpaka() -> None:
    check("""
        namespace kernel {
          template <typename T, typename Worker, typename Hierarchy>
          DINLINE void atomicAllExch(Worker const& worker, T* ptr, T const value, Hierarchy const& hierarchy) {
            ::alpaka::atomicOp<::alpaka::AtomicExch>(worker.getAcc(), ptr, value, hierarchy); // -> order-dependent depends
          }
        }
        struct Any {
          template <class Worker> HDINLINE void operator()(Worker const& worker, int* flag) const {
            kernel::atomicAllExch(worker, flag, 1, alpaka::hierarchy::Threads{});            // -> order-dependent no
          }
        };
    """)


def test_a_lambda_of_kokkos_is_a_kernel() -> None:
    check("""
        void run(Kokkos::View<float*> y, Kokkos::View<const int*> at) {
          Kokkos::parallel_for("k", 9, KOKKOS_LAMBDA(const int i) { Kokkos::atomic_add(&y(at(i)), .1f * i); });  // -> float-accumulate yes
        }
    """)


def test_functions_of_the_same_names_elsewhere_are_none() -> None:
    assert (
        judged("""
        void atomic_add(int* to, int by);
        void f(int* n) { atomic_add(n, 1); own::atomic_add(n, 2); Kokkos::atomic_load(n); Kokkos::initialize(); }
    """)
        == []
    )


def test_an_index_of_a_view_is_no_target() -> None:
    check("""
        struct Transpose {
          Kokkos::View<int*> rows; Kokkos::View<int*> to;
          KOKKOS_INLINE_FUNCTION void operator()(const size_t& i) const {
            const int at = Kokkos::atomic_fetch_add(&(rows(i)), 1);   // -> order-dependent yes
            to(at) = i;
          }
        };
        template <class F, class V> void each(const V& keys, F f, size_t n) { for (size_t i = 0; i < n; ++i) { int k = keys(i + 1); } }
        void go(Kokkos::View<int*> k) { each<Transpose>(k, Transpose(), 3); Kokkos::parallel_for(3, Transpose()); }
    """)


VIEWS = """
    using atomic_t = Kokkos::View<int*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged | Kokkos::Atomic>>;
    void run(Kokkos::View<float*> y, Kokkos::View<double*> plain, atomic_t counts, Kokkos::View<const int*> at) {
      Kokkos::View<float*, Kokkos::MemoryTraits<Kokkos::Atomic>> sums = y;
      auto scattered = Kokkos::Experimental::create_scatter_view(plain);
      Kokkos::parallel_for(9, KOKKOS_LAMBDA(const int i) {
        sums(at(i)) += .1f * i;                      // -> float-accumulate yes
        counts(at(i))++;                             // -> commutative-exact no
        const int place = counts(0)++;               // -> order-dependent yes return=index
        y(place) = sums(i);
        auto access = scattered.access();
        access(at(i), 0) -= .5 * i;                  // -> float-accumulate yes
        plain(i) += y(i);
      });
    }
"""


def test_views_that_are_changed_atomically() -> None:
    check(VIEWS)


def test_types_of_atomic_views_are_seen_through_includes() -> None:
    tree = repository(
        t_h="using atomic_t = Kokkos::View<double*, Kokkos::MemoryTraits<Kokkos::Atomic>>;\n",
        a_hpp='#include "t.h"\nvoid f(atomic_t s) { k([=](int i) { s(i % 3) += .5 * i; }); }\n',
    )
    found = [(a.location.path, judge(a, tree).class_) for a in atomics.find(tree)]
    assert found == [("a.hpp", "float-accumulate")]
