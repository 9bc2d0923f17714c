"""Lambdas in kernels: their parameters are what each call hands in."""

from __future__ import annotations

import pytest

from .support import check, only


def test_a_parameter_of_a_lambda_is_not_one_value_for_all_threads() -> None:
    check("""
        __global__ void k(float* out, const float* w, const int* cell, int n, float step) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          auto deposit = [&](int x, float val) {
            atomicAdd(&out[cell[i] + x], val);   // -> float-accumulate yes
          };
          deposit(0, w[i]);
          deposit(1, w[i] * 2.f);
        }
        __global__ void fixed(float* out, const int* cell, float step) {
          auto deposit = [&](int x) {
            atomicAdd(&out[cell[x]], step);      // -> float-accumulate no
          };
          deposit(threadIdx.x);
        }
    """)


@pytest.mark.parametrize("given", ["const float val", "float const& val", "float* val"])
def test_however_it_is_declared(given: str) -> None:
    value = "val[0]" if "*" in given else "val"
    said = only(f"""
        __global__ void k(float* out, float* w) {{
          auto deposit = [&](int x, {given}) {{ atomicAdd(&out[x], {value}); }};
          deposit(w[threadIdx.x] > 0, w);
        }}
    """)
    assert said.verdict == "yes"


def test_an_index_that_a_lambda_is_given_is_not_one_per_thread() -> None:
    said = only("""
        __global__ void k(float* out, const float* x, int n) {
          auto add = [&](int row, float v) { atomicAdd(&out[row * n + threadIdx.x], v); };
          add(x[threadIdx.x] > 0, x[threadIdx.x]);
        }
    """)
    assert said.verdict == "yes"


def test_what_a_lambda_stores_in_a_reference_that_it_is_given_is_seen_outside() -> None:
    check("""
        template <class Each> __global__ void k(Each each, int* count, float* out) {
          each([&](unsigned i, int& slot) { slot = atomicAdd(count, 1); });   // -> order-dependent conditional
          each([&](unsigned i, int slot) { slot = atomicAdd(count, 1); });    // -> commutative-exact no
        }
    """)
