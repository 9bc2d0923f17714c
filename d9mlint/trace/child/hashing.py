"""Digests of bytes, as fast as what the program's environment has for it allows: they are not attacked here.

Much data is taken as words of 64 bits: their sum, each times an odd number of its own, and likewise that of their
upper halves, as of a word's uppermost bits a product modulo 2**64 keeps too little. NumPy computes both at more than
twice the speed of SHA-1. A permutation has other sums: the factors differ.
"""

from __future__ import annotations

import hashlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_SHORT, _LONG = 2**10, 2**14
"""Bytes that SHA-1 is not worth its start for, and those that sums are worth theirs for."""
_WORDS = 2**13
"""That are summed at once: few enough to stay near the processor."""
_GOLDEN = -7046029254386353131  # 0x9e3779b97f4a7c15
_FIRST, _SECOND = -4658895280553007687, -7723592293110705685  # 0xbf58476d1ce4e5b9, 0x94d049bb133111eb


def blake(data: Any) -> str:
    """Eight bytes of BLAKE2b."""
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def hasher() -> Callable[[Any], str]:
    """xxhash where the environment has it."""
    try:
        import xxhash  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return _Plain()
    return lambda data: str(xxhash.xxh3_64_hexdigest(data))


class _Plain:
    """BLAKE2b; for more data SHA-1, which processors have instructions for; for much data sums."""

    def __init__(self) -> None:
        self._factors: Any = None

    def __call__(self, data: Any) -> str:
        size = len(data)
        if size <= _SHORT:
            return blake(data)
        if size >= _LONG:
            numpy = sys.modules.get("numpy")
            if hasattr(numpy, "frombuffer") and hasattr(numpy, "dot"):
                return self._summed(numpy, data, size)
        return hashlib.sha1(data).hexdigest()[:16]

    def _summed(self, numpy: Any, data: Any, size: int) -> str:
        if self._factors is None:
            self._factors = mixed(numpy.arange(1, _WORDS + 1, dtype="int64") * _GOLDEN) | 1
        words = numpy.frombuffer(data, "int64", size // 8)
        sums = hashlib.blake2b(data[size // 8 * 8 :], digest_size=8)
        sums.update(b"%d" % size)
        for start in range(0, len(words), _WORDS):
            part = words[start : start + _WORDS]
            factors = self._factors[: len(part)]
            sums.update(numpy.dot(part, factors).tobytes())
            sums.update(numpy.dot(part >> 32, factors).tobytes())
        return sums.hexdigest()


def total(bits: Any, positions: Any) -> Any:
    """The sum of the elements' bits, each mixed with its position; whole numbers of 64 bits that wrap around."""
    return mixed(bits ^ mixed(positions * _GOLDEN)).sum()


def mixed(bits: Any) -> Any:
    """The finaliser of SplitMix64; shifts of signed integers fill with the sign, so it is masked away."""
    bits = (bits ^ ((bits >> 30) & (2**34 - 1))) * _FIRST
    bits = (bits ^ ((bits >> 27) & (2**37 - 1))) * _SECOND
    return bits ^ ((bits >> 31) & (2**33 - 1))
