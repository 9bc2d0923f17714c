"""Partial specialisations that traits select: each judged for its own types."""

from __future__ import annotations

import pytest

from d9mlint.kernels.scan import scan
from d9mlint.model import Site

from .support import repository

_BY_FLAG = """
    template <typename T, bool = std::is_integral<T>::value> struct Add {
      __device__ T operator()(T* at, T x) const { return atomicAdd(at, x); }
    };
    template <typename T> struct Add<T, true> {
      typedef T type;
      template <typename V> __device__ type operator()(type* at, V x) const {
        type scaled = x * 1000;
        return atomicAdd(at, scaled);
      }
    };
"""
_BY_TEST = """
    template <class T, class = void> struct Add {
      __device__ void operator()(T* at, T x) const { atomicAdd(at, x); }
    };
    template <class U> struct Add<U, typename std::enable_if<std::is_integral<U>::value>::type> {
      __device__ void operator()(U* at, U x) const { atomicAdd(at, x); }
    };
"""
_USES = """
    template <class T, class F> __global__ void k(T* out, const T* x, F atomic_add) { atomic_add(out, x[threadIdx.x]); }
    void go(float* x, unsigned long long* n) {
      Add<float> floats;
      k<<<1, 1>>>(x, x, floats);
      Add<unsigned long long> fixed;
      k<<<1, 1>>>(n, n, fixed);
    }
"""


def _bodies(text: str) -> list[Site]:
    return [site for site in scan(repository(a_cu=text), jobs=1).sites if site.form == "wrapper-def"]


@pytest.mark.parametrize("text", [_BY_FLAG, _BY_TEST])
def test_each_specialisation_has_the_types_of_its_trait(text: str) -> None:
    float_, fixed = _bodies(text + _USES)
    assert (float_.class_, float_.target_type) == ("float-accumulate", "T = float")
    assert (fixed.class_, fixed.verdict) == ("commutative-exact", "no"), fixed.reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("std::is_integral<T>::value", "my::is_exact<T>::value"),
        ("<T, true>", "<T, (1 > 0)>"),
        ("bool = std::is_integral<T>::value", "bool = false"),
    ],
)
def test_a_trait_that_is_not_known_selects_nothing(old: str, new: str) -> None:
    assert old in _BY_FLAG
    assert {said.class_ for said in _bodies(_BY_FLAG.replace(old, new) + _USES)} == {"float-accumulate"}


def test_an_old_value_that_one_use_reads_counts() -> None:
    read = _USES.replace("{ atomic_add", "{ out[1] = atomic_add")
    assert [said.class_ for said in _bodies(_BY_FLAG + read)][1] == "order-dependent"


def test_the_other_way_round() -> None:
    turned = _BY_FLAG.replace("is_integral", "is_floating_point")
    assert [said.class_ for said in _bodies(turned + _USES)] == ["commutative-exact", "float-accumulate"]
    half = _USES.replace("float*", "__half*").replace("<float>", "<__half>")
    assert _bodies(turned + half)[0].class_ == "float-accumulate"  # no type of the language
