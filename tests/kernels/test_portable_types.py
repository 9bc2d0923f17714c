"""Members of classes that are views, RAJA's exchanges, macros that are whole statements."""

from __future__ import annotations

from .support import check


def test_types_that_a_macro_is_given_with_the_name() -> None:
    check(
        """
        #include "shared.hpp"
        template <class Acc> __device__ void all(Acc const& acc, float3_X const* in, int i) {
          SHARED_MEM(acc, sums, memory::Array<float_X, 8>);
          SHARED_MEM(acc, many, uint32_t);
          SHARED_MEM(acc, whole, float3_X);
          SHARED_ONE(double, single);
          alpaka::atomicAdd(acc, &sums[i], in[i].x() * i, alpaka::hierarchy::Threads{});   // -> float-accumulate yes
          alpaka::atomicAdd(acc, &many, uint32_t(i), alpaka::hierarchy::Threads{});        // -> commutative-exact no
          alpaka::atomicAdd(acc, &(whole.x()), in[i].x(), alpaka::hierarchy::Threads{});   // -> float-accumulate yes
          alpaka::atomicAdd(acc, &single, give(i), alpaka::hierarchy::Threads{});          // -> float-accumulate yes
        }
    """,
        shared_hpp="""
        #define SHARED_MEM(accOrWorker, varName, ...) \\
          auto& varName = pmacc::memory::shared::allocate<__COUNTER__, __VA_ARGS__>(accOrWorker)
        #define SHARED_ONE(type, name) type& name = make(acc)
    """,
    )


def test_the_value_says_what_the_target_does_not() -> None:
    check("""
        template <class Box, class Acc> __device__ void add(Acc const& acc, Box box, float3_X const* in, int i) {
          float3_X part = in[i];
          float_X assign(1.0);
          alpaka::atomicAdd(acc, &(box(i)[1]), part[1]);                                   // -> float-accumulate yes
          alpaka::atomicAdd(acc, &(box(i).x()), part.x());                                 // -> float-accumulate yes
          alpaka::atomicAdd(acc, &(box(i)[2]), float_64(other(i)));                        // -> float-accumulate yes
          alpaka::atomicAdd(acc, &(box(i)[3]), assign * other(i));                         // -> float-accumulate yes
          alpaka::atomicAdd(acc, &(box(i)[4]), other(i));                                  // -> unknown conditional
        }
    """)


def test_views_among_the_members_of_a_class_of_another_file() -> None:
    check(
        """
        #include "class.h"
        template <int ATOMIC> KOKKOS_INLINE_FUNCTION void Collide::operator()(Tag<ATOMIC>, const int& i) const {
          const int tried = static_cast<int>(attempts(i));
          Kokkos::atomic_add(&d_tried(), tried);                             // -> commutative-exact no
          Kokkos::atomic_add(&d_sums(i % 3), weight(i));                     // -> float-accumulate yes
          int at = Kokkos::atomic_fetch_add(&d_made(), 1);                   // -> order-dependent yes return=index
          d_list(at) = i;
        }
    """,
        class_h='#include "types.h"\nclass Collide {\n  ARRAYS::t_int_scalar d_tried, d_made;\n  ARRAYS::t_sums d_sums;\n};\n',
        types_h="struct ARRAYS {\ntypedef Kokkos::\n  DualView<int, Space::layout, Space> tdual_int_scalar;\n"
        "typedef tdual_int_scalar::t_dev t_int_scalar;\ntypedef Kokkos::DualView<double*, Space> tdual_sums;\n"
        "typedef tdual_sums::t_dev t_sums;\n};\n",
    )


def test_exchanges_of_raja() -> None:
    check("""
        template <typename P> __device__ void store(float* box, const float* value) {
          RAJA::atomicExchange<P>(&box[0], value[0]);                        // -> order-dependent depends
        }
        void f(int* p) { RAJA::forall<cuda>(r, [=] __device__ (int i) { RAJA::atomicStore<P>(p, i); }); }  // -> order-dependent conditional
    """)


def test_macros_that_are_whole_statements_and_go_over_lines_with_launches() -> None:
    check("""
        #define RUN(T, K)                                  \\
          {                                                \\
            if (n % K == 0) {                              \\
              other<                                       \\
                T, K><<<dim3(n / K, 512),                  \\
                        dim3(K, K)>>>(out, n);             \\
              return;                                      \\
            }                                              \\
          }
        template <typename T> void go(T* out, int n) {
          RUN(T, 32)
          RUN(T, 8)
          assert(false);
        }
        template <> void go<double>(double* out, int n) {
          RUN(double, 32)
          RUN(double, 8)
        }
        template <typename T, int V> __global__ void k(T* dw, const T* x) {
          T sum[V];
        #pragma unroll
          for (int v = 0; v < V; v++)
        #pragma unroll
            for (int w = 0; w < V; w++)
              sum[v] += x[w];
        #pragma unroll
          for (int v = 0; v < V; v++)
            atomicAdd(&dw[v * V + threadIdx.x % V], sum[v]);                 // -> float-accumulate yes
        }
        void run(float* dw, const float* x) { k<float, 4><<<1, 32>>>(dw, x); }
    """)


def test_a_macro_that_counts() -> None:
    check("""
        __device__ unsigned probes = 0;
        #define PROBED if (tile.rank() == 0) atomicAdd(&probes, 1);         // -> commutative-exact depends
    """)
