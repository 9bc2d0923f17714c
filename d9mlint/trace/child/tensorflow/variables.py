"""The variables that a step of the program changes, read with one op where they are plain."""

from __future__ import annotations

import sys
from typing import Any

from .. import sampling

_MANY, _LARGE = 500, 2**22
"""Variables, and bytes of all together, whose values are put one behind the other to be hashed at once."""


class Variables:
    """Variables, each once; what is found out about them is kept until others come to them."""

    def __init__(self, variables: Any = ()) -> None:
        self._known: dict[int, Any] = {}
        self.small = False
        """Whether they are few bytes of one type that samples are taken of: it, and the number of elements of each."""
        self.dtype, self.sizes = "", ()
        self._inner: Any = None
        self.add(variables)

    def add(self, variables: Any) -> None:
        """Those that a step changes, too."""
        self._known.update((id(one), one) for one in variables)
        self._inner = None

    @property
    def all(self) -> list[Any]:
        """In the order in which they were seen first."""
        return list(self._known.values())

    def __bool__(self) -> bool:
        return bool(self._known)

    def read(self) -> list[Any]:
        """The values of all as tensors, read with one op; empty where that does not go.

        It spares what is around each reading, which takes longer than a small network computes.
        """
        if self._inner is None:
            self._looked()
        if not self._inner:
            return []
        try:
            handles = [one.handle for one in self._inner]
            return list(self._execute(b"_ReadVariablesOp", len(handles), handles, self._attributes, self._context()))
        except Exception:  # noqa: BLE001 (an older TensorFlow, or a device that lacks the op: it goes without)
            self._inner = []
            return []

    def _looked(self) -> None:
        """Whether all are plain and in one device's memory."""
        self._inner, self.small = [], False
        inner = [getattr(one, "_value", one) for one in self._known.values()]  # Keras 3 has its own around them
        if not inner or not all(type(one).__name__ == "ResourceVariable" for one in inner):
            return
        if len({one.handle.device for one in inner}) != 1:
            return
        self._inner = inner
        self._attributes = ("N", len(inner), "dtypes", [one.dtype.as_datatype_enum for one in inner])
        self._execute: Any = sys.modules["tensorflow.python.eager.execute"].execute
        self._context: Any = sys.modules["tensorflow.python.eager.context"].context
        sizes, dtype = [one.shape.num_elements() for one in inner], inner[0].dtype
        if 1 < len(inner) <= _MANY and None not in sizes and all(one.dtype == dtype for one in inner):
            self.dtype, self.sizes = dtype.name, tuple(sizes)
            self.small = self.dtype in sampling.SIMPLE and sum(sizes) * dtype.size <= _LARGE
