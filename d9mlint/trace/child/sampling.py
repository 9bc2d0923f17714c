"""Some of the parameters after each step, always the same ones: so many bytes whatever the size of a network."""

from __future__ import annotations

from operator import itemgetter
from struct import Struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .recorder import Recorder

_TENSORS, _EACH = 16, 8
SIMPLE: dict[str, Any] = {"float32": "f", "float64": "d"}
"""Types that Python can read from bytes, and as what."""
_REAL = ("float16", "bfloat16", "float32", "float64")


def of_torch(torch: Any, recorder: Recorder, tensors: Sequence[Any]) -> None:
    """Writes down a sample of tensors that have bytes; of those on another device than the first none."""
    real = [one for one in tensors if one.is_floating_point() and one.numel()]
    real = [one for one in real if one.device == real[0].device]
    parts = [_spaced(one.detach().reshape(-1), _EACH) for one in _spaced(real, _TENSORS)]
    if parts:
        _told(recorder, {str(one.dtype)[6:] for one in parts}, torch.cat(parts).double().tolist())


class Joined:
    """The samples of small tensors whose elements stand one behind the other, as bytes."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[Any, Struct]] = {}
        """By the numbers of elements: what takes the sample out of them all, and what packs it."""

    def told(self, recorder: Recorder, dtype: str, sizes: tuple[int, ...], data: bytes) -> None:
        """``dtype``: of all of them, one of `SIMPLE`; ``sizes``: the number of elements of each."""
        known = self._known.get(sizes)
        if known is None:
            index = chosen(sizes)
            known = self._known[sizes] = (itemgetter(*index) if len(index) > 1 else None, Struct("<%dd" % len(index)))  # noqa: UP031
        taken, packing = known
        if taken is not None:
            numbers = packing.pack(*taken(memoryview(data).cast(SIMPLE[dtype]))).hex()
            recorder.plain("sample", dtype, numbers)


def chosen(sizes: Sequence[int]) -> list[int]:
    """Which elements are the sample, of tensors of these sizes that stand one behind the other."""
    found: list[int] = []
    spans, start = [], 0
    for size in sizes:
        if size:
            spans.append(range(start, start + size))
        start += size
    for span in _spaced(spans, _TENSORS):
        found += _spaced(span, _EACH)
    return found


def of_arrays(recorder: Recorder, arrays: Sequence[Any]) -> None:
    """Writes down a sample of arrays of NumPy."""
    real = [one for one in arrays if one.dtype.name in _REAL and one.size]
    parts = [_spaced(one.reshape(-1), _EACH) for one in _spaced(real, _TENSORS)]
    if parts:
        _told(recorder, {one.dtype.name for one in parts}, [n for one in parts for n in one.astype("float64").tolist()])


def _spaced(several: Any, most: int) -> Any:
    """At most so many, evenly spaced, the first one included."""
    return several[:: -(-len(several) // most) or 1]


def _told(recorder: Recorder, dtypes: set[str], values: list[float]) -> None:
    numbers = Struct("<%dd" % len(values)).pack(*values).hex()  # noqa: UP031
    recorder.plain("sample", dtypes.pop() if len(dtypes) == 1 else "", numbers)
