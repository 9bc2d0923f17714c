"""Digests of NumPy arrays, in which TensorFlow and JAX hand out the values of their tensors."""

from __future__ import annotations

import sys
from typing import Any

from .hashing import hasher
from .recorder import digest
from .tensors import OPAQUE

_LARGE, _UNCOPIED = 2**18, 2**16


class Arrays:
    """Digests of arrays and of what turns into one; without NumPy there is none to digest."""

    def __init__(self) -> None:
        self.hash = hasher()

    @staticmethod
    def array(value: Any) -> Any:
        """A value that TensorFlow has handed out: strings and numbers come bare."""
        return value if hasattr(value, "dtype") else sys.modules["numpy"].asarray(value, dtype=object)

    def __call__(self, array: Any) -> str:
        """The digest of an array's elements, whatever their layout in memory."""
        kind = getattr(array.dtype, "kind", "")
        if kind == "O":
            return digest(repr(array.tolist()))
        if getattr(array.dtype, "itemsize", 0) == 0:
            return OPAQUE
        return self.hash(_bytes(array))

    def bag(self, array: Any) -> str:
        """The same for the same rows in any order; empty for large arrays."""
        if array.nbytes > _LARGE or not array.size:
            return ""
        rows = array.reshape(array.shape[0], -1) if array.ndim else array.reshape(1, -1)
        return digest(sorted(row.tobytes() if row.dtype.kind != "O" else repr(row.tolist()) for row in rows))


def _bytes(array: Any) -> Any:
    """The elements one behind the other; those of a large array that lies so are not copied."""
    if array.nbytes <= _UNCOPIED or not array.flags.c_contiguous:
        return array.tobytes()
    return memoryview(array.reshape(-1).view("uint8"))
