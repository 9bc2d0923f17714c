"""Old values that are handed to a function or a container of the repository: what becomes of them there."""

from __future__ import annotations

import pytest

from .support import check, only


@pytest.mark.parametrize(
    "body, verdict",
    [
        ("places[at] = what;", "yes"),
        ("*(places + at) = what;", "yes"),
        ("places[what] = at;", "yes"),
        ("deeper(what, at, places);", "yes"),
        ("unseen(what, at);", "conditional"),
        ("printf(\"%d\", at);", "conditional"),
    ],
)  # fmt: skip
def test_the_body_that_is_handed_an_old_value(body: str, verdict: str) -> None:
    found = only(f"""
        __device__ void deeper(int what, int at, int* places) {{ places[at] = what; }}
        __device__ void keep(int what, const int at, int* places) {{ {body} }}
        __global__ void k(int* n, int* places) {{
          int old = atomicAdd(n, 1);
          keep(threadIdx.x, old, places);
        }}
    """)
    assert (found.class_, found.verdict) == ("order-dependent", verdict), found.reason


def test_a_body_in_a_file_that_is_included() -> None:
    kernel = '#include "keep.h"\n__global__ void k(int* n, int* to) { detail::keep(atomicAdd(n, 1), to); }'
    body = "namespace detail { __device__ inline void keep(int at, int* to) { to[at] = threadIdx.x; } }"
    assert only(kernel, keep_h=body).verdict == "yes"
    assert only(kernel.partition("\n")[2], keep_h=body).verdict == "conditional"


def test_bodies_that_do_not_agree_say_nothing() -> None:
    found = only("""
        __device__ void keep(int at, int* to) { to[at] = 1; }
        __device__ void keep(int at, float* to) { if (at == 3) to[0] = 1.f; }
        __global__ void k(int* n, int* to) { keep(atomicAdd(n, 1), to); }
    """)
    assert found.verdict == "conditional"


def test_an_address_that_is_reckoned_by_an_old_value_is_no_old_value() -> None:
    found = only("""
        __device__ int read(const int* at) { return *at; }
        __global__ void k(int* n, const int* all, int* out) { out[0] = read(all + atomicAdd(n, 1)); }
    """)
    assert found.verdict == "conditional", found.reason


def test_a_container_keeps_what_it_is_given() -> None:
    check("""
        __global__ void k(int* n, view<link> links, queue& out) {
          const int at = atomicAdd(n, 2);                                              // -> order-dependent yes
          links.push_back({threadIdx.x, at});
          out.visit(atomicAdd(n, 1));                                                  // -> order-dependent conditional
        }
    """)
