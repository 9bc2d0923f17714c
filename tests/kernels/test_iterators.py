"""Types of what iterators point to, and those that are written by what has them."""

from __future__ import annotations

import pytest

from .support import check, only


@pytest.mark.parametrize(
    "value",
    [
        "typename std::iterator_traits<It>::value_type", "typename thrust::iterator_traits<It>::value_type",
        "cub::detail::value_t<It>", "std::remove_reference_t<decltype(*in)>", "std::decay_t<decltype(in[0])>",
    ],
)  # fmt: skip
def test_the_value_of_an_iterator(value: str) -> None:
    judgement = only(f"""
        template <typename It, typename Out> __global__ void k(It in, Out* out, const int* at) {{
          using T = {value};
          T* sums = reinterpret_cast<T*>(out);
          atomicAdd(sums + at[threadIdx.x], in[threadIdx.x]);
        }}
        void go(const thrust::device_vector<float>& x, char* out, const int* at) {{
          k<<<1, 32>>>(x.cbegin(), out, at);
        }}
    """)
    assert (judgement.class_, judgement.verdict) == ("float-accumulate", "yes")


def test_a_value_of_an_iterator_of_integers_and_a_difference() -> None:
    check("""
        template <typename It> __global__ void k(It in, typename std::iterator_traits<It>::value_type* out,
                                                 typename std::iterator_traits<It>::difference_type* steps) {
          __shared__ typename std::iterator_traits<It>::value_type sums[4];
          atomicAdd(&sums[threadIdx.x % 4], in[threadIdx.x]);  // -> commutative-exact no
          atomicAdd(out + threadIdx.x % 4, in[threadIdx.x]);   // -> commutative-exact no
          atomicAdd(steps, in[threadIdx.x]);                   // -> commutative-exact no
        }
        void go(thrust::device_vector<unsigned> x, thrust::device_vector<unsigned> y, long* steps) {
          k<<<1, 32>>>(x.begin(), y.data().get(), steps);
        }
    """)


def test_the_difference_of_iterators_over_floats_is_an_integer() -> None:
    check("""
        template <typename It> __global__ void k(It in, typename std::iterator_traits<It>::difference_type* steps) {
          atomicAdd(steps, threadIdx.x);  // -> commutative-exact no
        }
        void go(thrust::device_vector<float> x, long* steps) { k<<<1, 32>>>(x.begin(), steps); }
    """)
