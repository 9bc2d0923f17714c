"""Types that a branch or the head of a template leaves of those that it is instantiated for."""

from __future__ import annotations

import pytest

from .support import check

_BRANCH = """
    template <typename T>
    __global__ void add(T* sums, const T* x) {{
      if constexpr ({test}) {{
        atomicAdd(&sums[threadIdx.x % 3], x[threadIdx.x]);                             // -> {holds}
      }} else {{
        atomicAdd(&sums[threadIdx.x % 5], x[threadIdx.x]);                             // -> {fails}
      }}
    }}
    template __global__ void add<int>(int*, const int*);
    template __global__ void add<float>(float*, const float*);
"""
_EXACT = "commutative-exact no type=T=int"
_FLOAT = "float-accumulate yes type=T=float"
_BOTH = "float-accumulate conditional"


@pytest.mark.parametrize(
    ("test", "holds", "fails"),
    [
        ("std::is_integral_v<T>", _EXACT, _FLOAT),
        ("std::is_integral_v<T> && !std::is_same_v<T, bool>", _EXACT, _BOTH),
        ("!std::is_integral_v<T>", _BOTH, _BOTH),
        ("std::is_integral<T>::value && kFast", _EXACT, _BOTH),
        ("std::is_floating_point_v<T>", _FLOAT, _EXACT),
        ("std::is_same_v<T, int>", _EXACT, _FLOAT),
        ("std::is_integral_v<T> || kFast", _BOTH, _BOTH),
        ("std::is_integral_v<U>", _BOTH, _BOTH),
    ],
)
def test_a_branch_that_is_compiled_for_some_types(test: str, holds: str, fails: str) -> None:
    check(_BRANCH.format(test=test, holds=holds, fails=fails))


def test_the_head_of_a_template() -> None:
    check("""
        template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
        __global__ void count(T* sums, const T* x) {
          atomicAdd(&sums[threadIdx.x % 3], x[threadIdx.x]);                             // -> commutative-exact no
        }
        template <typename T> requires std::floating_point<T>
        __global__ void add(T* sums, const T* x) {
          atomicAdd(&sums[threadIdx.x % 3], x[threadIdx.x]);                             // -> float-accumulate yes
        }
    """)
