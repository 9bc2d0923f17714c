"""Old values that a function object or a lambda gives to the algorithm that it is handed to, or that are only checked."""

from __future__ import annotations

from .support import check

_PLACE = """
    struct take_place_t {{
      device_span<int> counters;
      __device__ size_t operator()(size_t key) const {{
        cuda::atomic_ref<int, cuda::thread_scope_device> counter(counters[key]);
        return counter.fetch_add(1, cuda::std::memory_order_relaxed);               // -> order-dependent {verdict}
      }}
    }};
    void run(device_vector<size_t>& keys, int* out, device_span<int> counters) {{
      {call}
    }}
"""


def test_a_functor_gives_the_old_value_to_the_algorithm_that_it_is_made_for() -> None:
    call = "thrust::transform(thrust::device, keys.begin(), keys.end(), out, take_place_t{counters});"
    check(_PLACE.format(verdict="yes", call=call))


def test_a_functor_whose_value_is_dropped_or_whose_use_is_not_seen() -> None:
    call = "thrust::for_each(thrust::device, keys.begin(), keys.end(), take_place_t{counters});"
    check(_PLACE.format(verdict="depends", call=call))
    check(_PLACE.format(verdict="depends", call=""))


def test_a_lambda_gives_the_old_value_to_the_algorithm_that_it_is_handed_to() -> None:
    check("""
        template <typename F> void transform_e(const Graph& graph, F op, float* out);
        void number(const Graph& graph, int* counter, float* out) {
          transform_e(graph, [counter] __device__(auto, auto) {
            return atomicAdd(counter, 1);                                              // -> order-dependent yes
          }, out);
        }
    """)


def test_a_value_that_is_kept_in_a_tuple() -> None:
    check("""
        struct store_t {
          Pair* out;
          unsigned* counts;
          __device__ void operator()(size_t i) const {
            unsigned place = atomicAdd(&counts[i % 7], 1u);                            // -> order-dependent yes
            out[i] = cuda::std::make_tuple(i, place);
          }
        };
    """)


def test_a_value_that_is_only_checked() -> None:
    check("""
        __global__ void last(int* arrived, int total, float* out) {
          int count = 1 + atomicAdd(arrived, 1);                                       // -> order-dependent no
          my_assert(count > 0 && count <= total, "arrivals");
          if (count == total) out[0] = 1;
        }
        __global__ void counts(int* seen, int total) {
          int count = atomicAdd(&seen[threadIdx.x % 3], 1);                            // -> commutative-exact no
          assert(count < total);
        }
        __global__ void first(int* arrived, int total, float* out) {
          int count = atomicAdd(arrived, 1);                                           // -> order-dependent conditional
          if (count > 0 && count <= total) out[0] = threadIdx.x;
        }
    """)


def test_a_minimum_of_floats_whose_old_value_is_converted_and_dropped() -> None:
    check("""
        __device__ void lower(float* address, float value) {
          if (value >= 0)
            __int_as_float(atomicMin((int*)address, __float_as_int(value)));            // -> commutative-exact no
          else
            __uint_as_float(atomicMax((unsigned*)address, __float_as_uint(value)));     // -> commutative-exact no
        }
    """)


def test_the_old_value_of_a_float_counter_is_a_place() -> None:
    check("""
        __global__ void place(float* counter, float* out) {
          float at = atomicAdd(counter, 1.0f);                                         // -> order-dependent yes
          out[threadIdx.x] = at;
        }
        __global__ void count(float* counter) { atomicAdd(counter, 1.0f); }            // -> float-accumulate no
    """)
