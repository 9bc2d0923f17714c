"""Templates and macros of a project's own around atomics: iterators, overloads, names and types that come in levels."""

from __future__ import annotations

from .support import check, judged, only

_ITERATORS = """
template <typename Iterator, typename T>
__device__ std::enable_if_t<is_discard<Iterator>::value, void> atomic_add(Iterator iter, T value) {}
template <typename Iterator, typename T>
__device__ std::enable_if_t<std::is_arithmetic_v<T>, T> atomic_add(Iterator iter, T value) {
  return atomicAdd(&(thrust::raw_reference_cast(*iter)), value);
}
"""
_OVERLOADS = """
namespace utils {
__device__ void add_to(float* address, float value) { atomicAdd(address, value); }
__device__ void add_to(double* address, double value) { atomicAdd(address, value); }
}
"""


def test_what_an_iterator_by_value_points_to_is_added_to_by_the_caller() -> None:
    check(
        """
        #include "own.cuh"
        __global__ void k(float* sums, unsigned* counts, const float* x) {
          atomic_add(sums, x[threadIdx.x]);       // -> float-accumulate yes
          atomic_add(counts, 1u);                 // -> commutative-exact no
        }
        """,
        own_cuh=_ITERATORS,
    )


def test_a_number_by_value_is_no_iterator() -> None:
    check("""
        template <typename T> __device__ T scaled(T x, float* sum) {
          atomicAdd(sum, 2 * x);                  // -> float-accumulate depends
          return x;
        }
        template <typename T> __device__ T doubled(T x) {
          __shared__ float sum[1];
          atomicAdd(&sum[0], 2 * x);              // -> float-accumulate yes memory=shared
          return x;
        }
    """)


def test_all_overloads_of_floats_leave_no_doubt() -> None:
    text = '#include "own.cuh"\ntemplate <class M> __global__ void k(typename M::Value* x, typename M::Value* v) {{\n' \
        "  utils::add_to(&x[0], v[threadIdx.x]);\n}}\n{}"  # fmt: skip
    found = only(text.format(""), own_cuh=_OVERLOADS)
    assert (found.class_, found.verdict) == ("float-accumulate", "yes"), found.reason
    more = "__device__ void add_to(int* address, int value) { atomicAdd(address, value); }\n"
    found = only(text.format(""), own_cuh=_OVERLOADS.replace("}\n}", "}\n" + more + "}"))
    assert (found.class_, found.verdict) == ("float-accumulate", "conditional"), found.reason


def test_a_member_that_is_set_from_a_parameter_is_not_the_parameter() -> None:
    check("""
        struct Best {
          unsigned long long at;
          __device__ void take(const Best& other) {
            unsigned long long* p = &at;
            atomicExch(p, blockIdx.x);            // -> order-dependent conditional
            at = other.at;
          }
        };
    """)


def test_types_that_one_macro_hands_to_the_next() -> None:
    found = only("""
        #define CASE(ENUM, TYPE, NAME, ...) case ENUM: { using NAME = TYPE; return __VA_ARGS__(); }
        #define DISPATCH_REALS(TYPE, NAME, ...) [&] { switch (TYPE) { \\
          CASE(at::ScalarType::Half, at::Half, NAME, __VA_ARGS__) \\
          CASE(at::ScalarType::Double, double, NAME, __VA_ARGS__) } }()
        template <typename T> __global__ void k(T* out, const T* x) { atomicAdd(&out[0], x[threadIdx.x]); }
        void go(at::Tensor t) {
          DISPATCH_REALS(t.scalar_type(), scalar_t, [&] { k<scalar_t><<<1, 1>>>(t.data_ptr<scalar_t>(), x); });
        }
    """)
    assert (found.target_type, found.class_, found.verdict) == ("T = Half | double", "float-accumulate", "yes")


def test_the_argument_that_stands_for_the_parameter() -> None:
    found = only("""
        template <typename I, typename T> struct Parts { const I* index; const T* value; };
        template <typename I, typename T> __global__ void k(Parts<I, T> parts, T* out) {
          atomicAdd(&out[parts.index[0]], parts.value[0]);
        }
        void go(Parts<int, double> parts, void* out) { k<<<1, 1>>>(parts, cast(out)); }
    """)
    assert (found.target_type, found.class_) == ("T = double", "float-accumulate")


def test_a_kernel_whose_name_a_macro_puts_together() -> None:
    found = only("""
        template <typename T> __global__ void scatterRows(T* out) { atomicAdd(&out[0], T(1) / threadIdx.x); }
        #define LAUNCH(name, n, T) name##Rows<T><<<n, 1>>>(out)
        #define EACH(name, T) void go(T* out) { \\
          LAUNCH(name, \\
            1, \\
            T); }
        EACH(scatter, float)
        #undef LAUNCH
        #define LAUNCH(name, T, n) name##Other<T><<<n, 1>>>(out)
        void more(int* p) { LAUNCH(gather, int, 1); }
    """)
    assert (found.target_type, found.class_) == ("T = float", "float-accumulate")


def test_a_function_that_only_loads_leaves_a_constant_alone() -> None:
    kernel = """
        __device__ bool is_set({} flags, int i) {{ return flags == nullptr ? false : {} != 0; }}
        __global__ void k(int* flags) {{ if (!is_set(flags, 0)) atomicExch(flags + threadIdx.x % 2, 1); }}
    """
    assert only(kernel.format("int*", "ld_acquire(flags + i)")).verdict == "no"
    assert only(kernel.format("int*", "(flags[i] = i)")).verdict == "conditional"


def test_a_grid_barrier_of_two_conditions_only_waits() -> None:
    barrier = """
        __global__ void k(unsigned long long* arrived, bool all, float* out) {{
          unsigned long long old = atomicAdd(arrived, 1ull);
          unsigned ns = 8;
          while ((all || blockIdx.x == 0) && ((old ^ *(volatile unsigned long long*)arrived) & 1) == 0) {{ {} }}
        }}
    """
    found = only(barrier.format("__nanosleep(ns); if (ns < 256) { ns *= 2; }"))
    assert (found.class_, found.verdict) == ("order-dependent", "no"), found.reason
    assert only(barrier.format("out[old] = 1.f;")).verdict == "yes"
    assert only(barrier.format("out[0] = blockIdx.x;")).verdict == "conditional"


def test_a_swap_that_gives_back_a_lock() -> None:
    check("""
        __global__ void k(int* lock, float* best, const float* x, int next) {
          while (atomicCAS(lock, 0, -1) != 0) {}  // -> order-dependent yes
          best[0] = x[threadIdx.x];
          atomicCAS(lock, -1, next);              // -> order-dependent conditional
        }
    """)


def test_who_only_reads_by_a_swap_takes_no_lock() -> None:
    said = judged("""
        __global__ void k(unsigned* ready, float* out, unsigned n) {
          unsigned seen = atomicCAS(&ready[0], 11u, 11u);
          if (seen == n) out[0] = 1.f;
          atomicExch(&ready[blockIdx.x % 2], n + threadIdx.x);
        }
    """)[-1][1]
    assert said.verdict == "conditional" and "the last thread wins" in said.reason
    said = judged("""
        __global__ void k(unsigned* ready, float* out, unsigned n) {
          unsigned seen = atomicCAS(&ready[0], 11u, 12u);
          if (seen == n) out[0] = 1.f;
          atomicExch(&ready[blockIdx.x % 2], n + threadIdx.x);
        }
    """)[-1][1]
    assert said.verdict == "conditional" and "gives back a lock" in said.reason
