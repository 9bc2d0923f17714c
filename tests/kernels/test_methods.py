"""Methods that bear the name of an atomic, and functors that are handed to a function as arguments of its template."""

from __future__ import annotations

from .support import check


def test_a_method_adds_to_what_its_object_leads_to() -> None:
    check("""
        template <typename T> struct Cells {
          T* data;
          int* n;
          __device__ void atomic_add(int i, T v) const { atomicAdd(&data[i], v); }   // -> float-accumulate depends
          __device__ int atomicAdd(int v) { return ::atomicAdd(n, v); }              // -> order-dependent depends
        };
        __global__ void k(Cells<float> cells, const float* x, const int* at, int* out) {
          cells.atomic_add(at[threadIdx.x], x[threadIdx.x]);                         // -> float-accumulate yes
          out[cells.atomicAdd(1)] = threadIdx.x;                                     // -> order-dependent yes type=int
        }
        // Each thread has an object of its own, not what the object leads to.
        __global__ void own(Cells<float>* cells, const float* x, const int* at) {
          cells[blockIdx.x * blockDim.x + threadIdx.x].atomic_add(at[0], x[threadIdx.x]);  // -> float-accumulate yes
        }
        __global__ void whole(Cells<int>* cells, const int* x, const int* at) {
          cells[threadIdx.x].atomic_add(at[threadIdx.x], x[threadIdx.x]);            // -> commutative-exact no
        }
    """)


def test_a_functor_that_is_an_argument_of_a_template() -> None:
    check("""
        template <bool device> struct add_impl {
          template <typename T> void operator()(T* p, T v) { *p += v; }
        };
        template <> struct add_impl<true> {
          template <typename T> __device__ void operator()(T* p, T v) { atomicAdd(p, v); }     // -> unknown depends
        };
        template <template <bool> class F, typename... A> __host__ __device__ void run(A&&... a) { F<true>()(a...); }
        template <typename T> __host__ __device__ void add(T* p, T v) { target::run<add_impl>(p, v); }  // -> float-accumulate depends
        __global__ void k(float* out, const int* at, const float* x) {
          add(out + at[threadIdx.x], x[threadIdx.x]);                                          // -> float-accumulate yes
        }
    """)  # fmt: skip


def test_an_object_of_a_class_template_is_made_not_applied() -> None:
    check("""
        template <typename T> struct complex {
          T re, im;
          __device__ complex(T a, T b) : re(a), im(b) {}
          __device__ complex<T> operator+(complex<T> const& other) const { return complex<T>(this->re + other.re, this->im + other.im); }
        };
        template <typename T> struct atomic_add {
          __device__ void operator()(T* p, T const& x) { atomicAdd(p, x); }               // -> float-accumulate depends
        };
        template <typename T> __device__ complex<T> polar(T const& r, T const& t) { return complex<T>(r * cos(t), r * sin(t)); }
        template <typename F> __global__ void apply(float* p) { F op; op(&p[0], 0.1f * threadIdx.x); }  // -> float-accumulate yes
        void run(float* p) { apply<atomic_add<float>><<<1, 32>>>(p); }
    """)


def test_parts_of_vectors_that_come_from_traits() -> None:
    check("""
        template <typename S> struct traits { using compute_t = float; };
        template <> struct traits<float4> { using compute_t = float4; };
        template <typename S> __global__ void k(typename traits<S>::compute_t* out, const int* at, const float* x) {
          atomicAdd(&out[at[threadIdx.x]].w, x[threadIdx.x]);                                  // -> float-accumulate yes
        }
        template <typename V> __global__ void of(V* out, const int* at, const float* x) {
          atomicAdd(&out[at[threadIdx.x]].x, 1 + threadIdx.x);                                 // -> commutative-exact no
        }
        void go(int2* out, int* at, float* x) { of<<<1, 1>>>(out, at, x); }
    """)


def test_functions_of_a_namespace_are_told_from_those_around_it() -> None:
    check("""
namespace math {
template <typename T> __device__ T max(const T& a, const T& b) { return a < b ? b : a; }
namespace atomic {
template <typename T> __device__ T max(T* at, T value) {
  return atomicMax(at, value);  // -> order-dependent depends
}
template <typename T> __device__ void twice(T* at, T value) {
  max(at, value);  // -> commutative-exact no
}
}
}
__global__ void k(int* out, const int* x, int n) {
  int i = threadIdx.x;
  int a = math::max(x[i], n);
  int b = max(x[i], a);
  math::atomic::max(out, b);  // -> commutative-exact no
}
""")
