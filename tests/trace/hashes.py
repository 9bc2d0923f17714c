"""Data of many sizes, each with changes that must not go unseen: executed in an interpreter, which may have NumPy or not.

The argument is the folder whose package `child` has the digests.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator

SIZES = (100, 2**12, 2**14, 2**16 + 8, 2**17 + 3)


def changed(data: bytes, source: random.Random) -> Iterator[bytes]:
    """Other data: single bits, signs of all numbers and of pairs of them, numbers that change places, other lengths."""
    size = len(data)
    yield from (data[:-1], data[:-8], data + bytes(8), bytes(size))
    for place in source.sample(range(8 * size), 300):
        yield _turned(data, [place // 8], 1 << place % 8)
    for width in (4, 8):
        signs = range(width - 1, size, width)
        yield _turned(data, signs, 128)
        for _ in range(50):
            yield _turned(data, source.sample(signs, 2), 128)
            first, second = sorted(place - width + 1 for place in source.sample(signs, 2))
            parts = (
                data[:first],
                data[second : second + width],
                data[first + width : second],
                data[first : first + width],
            )
            yield b"".join((*parts, data[second + width :]))


def _turned(data: bytes, places: range | list[int], bits: int) -> bytes:
    other = bytearray(data)
    for place in places:
        other[place] ^= bits
    return bytes(other)


def check(hashed: Callable[[object], str]) -> None:
    """Equal data have one digest, in whatever buffer they lie; other data others."""
    for size in SIZES:
        source = random.Random(size)
        data = source.randbytes(size)
        seen = {one: hashed(one) for one in (data, *changed(data, source))}
        assert len(seen) > 350, size
        assert len(set(seen.values())) == len(seen), size
        assert hashed(memoryview(bytearray(data))) == seen[data]
        assert {len(one) for one in seen.values()} == {16}


if __name__ == "__main__":
    import numpy  # noqa: F401

    sys.path.insert(0, sys.argv[1])
    from child.hashing import hasher  # type: ignore[import-not-found]

    check(hasher())
