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


_TOGGLED = """
        __global__ void count(unsigned* words, int* bins, int* other, const int* x, const int* y) {{
          int i = x[threadIdx.x];
          int j = y[threadIdx.x];
          unsigned old = atomicXor(words + i / 32, {mask});   // -> {said}
          {carry}
        }}
"""
_BIT = "1u << (i % 32)"


@pytest.mark.parametrize(
    ("mask", "carry"),
    [
        (_BIT, "if ((old >> (i % 32) & 1) != 0) add(bins + i, 2);"),
        (_BIT, "if (old >> (i % 32) & 1) { add(&bins[i], 2); }"),
        ("unsigned(1 << i % 32)", "if ((old >> (i % 32) & 1) == 0) add(bins + i, -1);"),
    ],
)
def test_a_bit_that_is_toggled_carries_into_its_counter(mask: str, carry: str) -> None:
    for_both = carry.replace("add(", "atomicAdd(") + "  // -> commutative-exact no"
    check(_TOGGLED.format(mask=mask, carry=for_both, said="commutative-exact no"))


def test_a_bit_and_its_word_in_variables() -> None:
    check("""
        __device__ void count(unsigned* words, int* bins, int bin) {
          auto n = bin % 32; auto m = bin / 32;
          auto old = atomicXor(words + m, unsigned(1 << n));     // -> commutative-exact no
          if ((old >> n & 1) != 0) atomicAdd(bins + bin, 2);     // -> commutative-exact no
        }
        __device__ void moved(unsigned* words, int* bins, int bin) {
          auto n = bin % 32; auto m = bin / 32;
          n = 3;
          auto old = atomicXor(words + m, unsigned(1 << n));     // -> order-dependent conditional
          if ((old >> n & 1) != 0) atomicAdd(bins + bin, 2);     // -> commutative-exact no
        }
    """)


@pytest.mark.parametrize(
    ("mask", "carry"),
    [
        (_BIT, "if ((old >> (i % 32) & 1) != 0) bins[i] = threadIdx.x;"),
        (_BIT, "if ((old >> (i % 32) & 1) != 0) log_add(bins + i, 2);"),
        (_BIT, "if ((old >> (j % 32) & 1) != 0) log_add(bins + i, 2);"),
        ("1u << (i % 31)", "if ((old >> (i % 31) & 1) != 0) log_add(bins + i, 2);"),
        ("3u << (i % 32)", "if ((old >> (i % 32) & 1) != 0) log_add(bins + i, 2);"),
    ],
)
def test_what_is_no_carry_elects_a_thread(mask: str, carry: str) -> None:
    check(_TOGGLED.format(mask=mask, carry=carry, said="order-dependent conditional"))


@pytest.mark.parametrize(
    "carry",
    [
        "if ((old >> (i % 32) & 1) != 0) atomicAdd(bins + j, 2);",  # another counter: who comes second decides
        "if ((old >> (j % 32) & 1) != 0) atomicAdd(bins + i, 2);",
        "if ((old >> (i % 32) & 1) != 0) atomicAdd(bins + i, i);",
        "if ((old >> (i % 32) & 1) != 0) atomicAdd(bins + i, 2); else atomicAdd(other + i, 2);",
    ],
)
def test_a_carry_into_another_counter_or_of_another_amount_is_none(carry: str) -> None:
    said = "; ".join(["commutative-exact no"] * carry.count("atomicAdd"))
    check(_TOGGLED.format(mask=_BIT, carry=f"{carry}  // -> {said}", said="order-dependent conditional"))
