"""SYCL: references to atomics by their types and names, functions of dpct, casts to classes of pointers."""

from __future__ import annotations

from d9mlint.kernels.judging.judge import judge
from d9mlint.kernels.scan import scan
from d9mlint.kernels.sites import atomics

from .support import check, repository


def test_references_and_functions() -> None:
    check("""
        #include <sycl/sycl.hpp>
        void add(sycl::queue& q, float* sum, int* count, int* list, unsigned* turn) {
          q.parallel_for(sycl::nd_range<1>(n, 64), [=](sycl::nd_item<1> item) {
            const int i = item.get_global_id(0);
            sycl::atomic_ref<float, sycl::memory_order::relaxed, sycl::memory_scope::device> total(sum[i % 7]);
            total.fetch_add(0.1f * i);                                              // -> float-accumulate yes type=float
            total += 0.1f * i;                                                      // -> float-accumulate yes
            auto seen = sycl::atomic_ref<int, sycl::memory_order::relaxed,
                                         sycl::memory_scope::work_group>(count[0]);
            seen++;                                                                 // -> commutative-exact no
            sycl::ext::oneapi::atomic_ref<int, o, s>(count[1]).fetch_max(i);        // -> commutative-exact no
            const int at = dpct::atomic_fetch_add<sycl::access::address_space::generic_space>(&count[2], 1);  // -> order-dependent yes return=index
            list[at] = i;
            dpct::atomic_fetch_add(&sum[i % 3], 0.5f * i);                          // -> float-accumulate yes
            dpct::atomic_fetch_compare_inc(&turn[1], 100u);                         // -> commutative-exact no
            syclcompat::atomic_fetch_add(&sum[i % 5], 0.5f * i);                    // -> float-accumulate yes
          });
        }
    """)


def test_wrappers_that_a_header_defines_are_met_in_plain_sources() -> None:
    sources = {
        "atomics_h": """
            template <typename T> inline T atomicAdd(T& cell, const T value) {
              auto ref = sycl::atomic_ref<T, sycl::memory_order::relaxed, sycl::memory_scope::device>(cell);
              return ref.fetch_add(value);
            }
            template <typename T> inline void grow(T* cells, int i, T value) {
              sycl::atomic_ref<T, sycl::memory_order::relaxed, sycl::memory_scope::device> ref(cells[i]);
              ref.fetch_add(value);
            }
        """,
        "main_cpp": """
            #include <sycl/sycl.hpp>
            #include "atomics.h"
            void run(sycl::queue& q, float* sum, int* count) {
              q.parallel_for(n, [=](sycl::id<1> i) {
                atomicAdd(sum[i % 3], 0.1f * i);
                atomicAdd(count[i % 3], 1);
                grow(sum, i % 5, 0.1f * i);
              });
            }
        """,
    }
    tree = repository(**sources)
    found = [(a.name, judge(a, tree)) for a in atomics.find(tree) if a.location.path == "main.cpp"]
    assert [(name, j.class_, j.verdict) for name, j in found] == [
        ("atomicAdd", "float-accumulate", "yes"),
        ("atomicAdd", "commutative-exact", "no"),
        ("grow", "float-accumulate", "yes"),
    ]


def test_casts_to_classes_of_pointers() -> None:
    check("""
        #include <sycl/sycl.hpp>
        template <typename scalar_t> struct Backward {
          void operator()(sycl::nd_item<1> item) const {
            const auto i = item.get_global_linear_id();
            atomicAdd((sycl_global_ptr<scalar_t>)&grad_[i % 7], value_[i]);          // -> float-accumulate yes type=scalar_t=double
            atomicAdd((sycl_local_ptr<int>)(count_ + i % 7), 1);                     // -> commutative-exact no type=int
          }
          scalar_t* grad_; const scalar_t* value_; int* count_;
        };
        void run() { submit(Backward<double>{}); }
    """)


def test_objects_that_a_macro_makes_in_a_kernel() -> None:
    check("""
        #define REF(v) sycl::atomic_ref<T, sycl::memory_order::relaxed, sycl::memory_scope::device>(v)
        template <class T> void k(sycl::nd_item<1>& item, T* sum) {
          auto total = REF(sum[0]);
          total.fetch_max(item.get_global_id(0));                                    // -> commutative-exact no
        }
    """)


def test_atomics_of_the_host_are_none() -> None:
    text = "#include <sycl/sycl.hpp>\nvoid f(std::atomic<int>& n) { n.fetch_add(1); }\n"
    found = scan(repository(a_cpp=text + "void g(float* o) { host::atomic_add(o, 1.5f); }\n"))
    assert not found.sites
    assert not found.skipped
