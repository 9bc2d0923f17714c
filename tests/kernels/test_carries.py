"""Sums of integers in two words: what a low word carries over is exact, whatever else uses its old value is not."""

from __future__ import annotations

import pytest

from tests.kernels.support import check


@pytest.mark.parametrize(
    "carry",
    [
        "unsigned const carry = old > (4294967295u - low) ? 1 : 0;",
        "unsigned const carry = old + low < low;",
        "auto carry = overflow_carry(old, low);",
        "unsigned const sum = old + low; unsigned const carry = sum < low;",
    ],
)
def test_a_carry_is_exact(carry: str) -> None:
    check(f"""
        __device__ unsigned overflow_carry(unsigned old, unsigned add) {{ return old + add < add; }}
        __device__ void add(unsigned* to, unsigned long long value) {{
          unsigned const low = (unsigned)value, high = value >> 32;
          unsigned const old = atomicAdd(to, low);                     // -> commutative-exact no return=unused
          {carry}
          unsigned const upper = high + carry;
          atomicAdd(to + 1, upper);                                    // -> commutative-exact no return=unused
        }}
        __global__ void k(unsigned* to, unsigned long long* x, int* at) {{
          add(to + at[threadIdx.x], x[threadIdx.x]);                   // -> commutative-exact no
        }}
    """)


def test_a_carry_that_goes_elsewhere_depends_on_the_order() -> None:
    check("""
        __global__ void k(unsigned* to, unsigned* x, int* at, unsigned* out) {
          unsigned low = x[threadIdx.x];
          unsigned old = atomicAdd(to + at[threadIdx.x], low);         // -> order-dependent conditional return=ticket
          unsigned carry = old + low < low;
          out[threadIdx.x] = carry;
          unsigned other = atomicAdd(to + at[threadIdx.x], low);       // -> order-dependent conditional return=ticket
          unsigned early = other < 7;
          atomicAdd(to + 1, early);                                    // -> commutative-exact no
          unsigned third = atomicAdd(to + at[threadIdx.x], low);       // -> order-dependent yes return=index
          unsigned over = third + low < low;
          atomicAdd(to + 1, over);                                     // -> commutative-exact no
          out[third] = low;
        }
    """)


def test_the_old_value_in_a_cell_of_a_local_array() -> None:
    check("""
        __device__ unsigned long long add(unsigned* to, unsigned long long value) {
          unsigned const low = (unsigned)value, high = value >> 32;
          unsigned parts[2];
          parts[0] = atomicAdd(to, low);                               // -> order-dependent depends return=forwarded
          unsigned const carry = parts[0] + low < low;
          parts[1] = atomicAdd(to + 1, high + carry);                  // -> order-dependent depends return=forwarded
          return ((unsigned long long)parts[1] << 32) | parts[0];
        }
        __global__ void k(unsigned* n, unsigned* out) {
          unsigned place[2];
          place[0] = atomicAdd(n, 1u);                                 // -> order-dependent yes return=index
          out[place[0]] = threadIdx.x;
        }
    """)
