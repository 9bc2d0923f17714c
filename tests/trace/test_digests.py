"""Digests tell data apart: of bytes, and of elements that are summed in any order."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT
from hashes import check
from hypothesis import assume, given
from hypothesis import strategies as st
from planted import interpreter

from d9mlint.trace.child.hashing import hasher, total
from d9mlint.trace.child.recorder import digest

_LEAST, _MOST = -(2**63), 2**63 - 1


class Words:
    """As much of a tensor of 64-bit integers as the digest uses: signed, wrapping around."""

    def __init__(self, values: list[int]) -> None:
        self.values = [(one - _LEAST) % 2**64 + _LEAST for one in values]

    def _each(self, other: Words | int, do: object) -> Words:
        others = other.values if isinstance(other, Words) else [other] * len(self.values)
        return Words([do(one, two) for one, two in zip(self.values, others, strict=True)])  # type: ignore[operator]

    def __xor__(self, other: Words | int) -> Words:
        return self._each(other, lambda one, two: one ^ two)

    def __and__(self, other: int) -> Words:
        return self._each(other, lambda one, two: one & two)

    def __rshift__(self, other: int) -> Words:
        return self._each(other, lambda one, two: one >> two)

    def __mul__(self, other: int) -> Words:
        return self._each(other, lambda one, two: one * two)

    def sum(self) -> int:
        return sum(self.values) % 2**64


def summed(values: list[int]) -> int:
    return total(Words(values), Words(list(range(1, len(values) + 1))))  # type: ignore[no-any-return]


words = st.lists(
    st.integers(_LEAST, _MOST) | st.integers(0, 3) | st.sampled_from([0, 1 << 62, 1 << 52, -1]), max_size=20
)


@given(st.binary())
def test_equal_bytes_have_equal_digests(data: bytes) -> None:
    assert digest(data) == digest(bytearray(data)) == digest(memoryview(data))


@given(st.binary(min_size=2), st.randoms(use_true_random=False))
def test_a_permutation_of_bytes_has_another_digest(data: bytes, source: random.Random) -> None:
    other = bytes(source.sample(data, len(data)))
    assert (digest(data) == digest(other)) == (data == other)


def test_data_of_any_size_have_digests_of_their_own() -> None:
    check(hasher())


@pytest.mark.slow
def test_data_of_any_size_have_digests_of_their_own_where_numpy_is() -> None:
    """Interpreters with a framework have it."""
    command = [interpreter("torch"), str(Path(__file__).with_name("hashes.py")), str(ROOT / "d9mlint" / "trace")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


@given(words, st.randoms(use_true_random=False))
def test_a_permutation_of_elements_has_another_sum(values: list[int], source: random.Random) -> None:
    other = source.sample(values, len(values))
    assert (summed(values) == summed(other)) == (values == other)


@given(words, words)
def test_other_elements_have_another_sum(values: list[int], others: list[int]) -> None:
    assume(values != others)
    assert summed(values) != summed(others)


@given(words, st.data())
def test_one_bit_changes_the_sum(values: list[int], data: st.DataObject) -> None:
    assume(values)
    where = data.draw(st.integers(0, len(values) - 1))
    other = [*values]
    other[where] ^= 1 << data.draw(st.integers(0, 62))
    assert summed(values) != summed(other)


def test_the_order_of_additions_does_not_matter() -> None:
    """As a GPU adds: the mixed elements are whole numbers, so their sum is one."""
    values = [random.Random(1).randrange(_LEAST, _MOST) for _ in range(1000)]
    assert summed(values) == summed(list(values))
