"""Verdicts that a switch, a table's look-ups or the lack of callers decide."""

from __future__ import annotations

import pytest

from d9mlint.kernels.scan import scan

from .support import check, repository


def test_a_switch_in_the_expression() -> None:
    check("""
    template <bool COUNTED>
    __global__ void k(int* n, int* out, const bool keep_all, const int* at) {
      int i = threadIdx.x;
      int place = keep_all ? i : atomicAdd(n, 1);              // -> order-dependent conditional return=index
      out[place] = i;
      int other = !COUNTED ? i : (int)atomicAdd(n + 1, 1);     // -> order-dependent conditional return=index
      out[other] = i;
      int third = at[i] > 3 ? i : atomicAdd(n + 2, 1);         // -> order-dependent yes return=index
      out[third] = i;
    }
    """)


TABLE = """
    __global__ void k(int* keys, float* values, int* places, const int* given, const float* x, int size) {{
      int i = threadIdx.x;
      int key = given[i];
      int slot = key * 31 % size;
      while (true) {{
        int old = atomicCAS(&keys[slot], -1, key);
        if ({test}) {{
          {then}
          break;
        }}
        slot = (slot + 1) % size;
      }}
    }}
"""


@pytest.mark.parametrize(
    "test, then, verdict",
    [
        ("old == -1 || old == key", "values[slot] = x[i];", "conditional"),
        ("key == old || -1 == old", "values[slot] = x[i];", "conditional"),
        ("old == -1", "values[slot] = x[i];", "yes"),
        ("old == -1 || old == key", "places[i] = slot;", "yes"),
        ("old == -1 || old == key", "values[slot] = x[i]; return slot;", "yes"),
    ],
)
def test_keys_that_are_put_into_a_table(test: str, then: str, verdict: str) -> None:
    found = scan(repository(a_cu=TABLE.format(test=test, then=then)))
    assert [site.verdict for site in found.sites if site.intrinsic == "atomicCAS"] == [verdict]


def test_a_wrapper_that_nothing_calls() -> None:
    body = """
    __device__ int take_max(int* at, int x) { return atomicMax(at, x); }
    __device__ float take_max(float* at, float x) { return __int_as_float(atomicMax((int*)at, __float_as_int(x))); }
    const char* written = "take_max";
    """
    found = scan(repository(a_cu=body)).sites
    assert [(site.class_, site.verdict) for site in found] == [("commutative-exact", "depends")] * 2
    assert all(site.reason.endswith("; nothing in these sources calls it") for site in found)
    used = body + "__device__ void other(int* at) { out(take_max(at, 3)); }"
    assert not any("nothing in these" in site.reason for site in scan(repository(a_cu=used)).sites)
