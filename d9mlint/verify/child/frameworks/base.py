"""What every framework does for a case: inputs, the call, a hash of its results, their bytes, and the time it takes."""

from __future__ import annotations

import hashlib
import random
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # training environments have old interpreters, whose types cannot be subscribed
    from collections.abc import Callable

    Json = dict[str, Any]
    Output = tuple[str, bytes]

SEED = 20261121
CHUNK = 2**18
"""Words that are hashed into one sum of eight bytes."""


class Framework:
    """A framework in one mode; the methods that raise are to be written by each."""

    def __init__(self, start: Json) -> None:
        self.names: list[str] = []
        """The GPUs."""
        self.last: Any = None
        """The case that is ready to be called."""
        self.gpu = start["device"] == "gpu"
        self.hashes_on_device = self.gpu or start.get("hash") == "device"
        self._weights: Any = None

    def versions(self) -> Json:
        """What the results depend on."""
        raise NotImplementedError

    def for_gpus(self) -> bool:
        """Whether this build can use GPUs at all."""
        return True

    def settings(self) -> Json:
        """What results on a GPU depend on besides versions: TF32, autotuning."""
        return {}

    def begin(self, case: Json) -> None:
        """Called before anything is made for a case."""

    def reset(self, seed: int) -> None:
        """Every generator that an op may draw from starts anew."""
        random.seed(seed)

    def tensor(self, spec: Json, seed: int) -> Any:
        """An input: drawn on the CPU in float64, so that it is the same on every device."""
        raise NotImplementedError

    def placed(self, value: Any) -> Any:
        """A tensor that a user's file has made, on the device; None where the value is none."""
        raise NotImplementedError

    def parts(self, tensors: list[Any]) -> list[Any]:
        """Tensors whose bytes can be compared."""
        return tensors

    def names_for(self, code: Any) -> Json:
        """The modules that an expression may name."""
        raise NotImplementedError

    def function(self, case: Json, inputs: Json, scope: Json) -> Callable[[], list[Any]]:
        """The case as a call without arguments that gives tensors, which stay on their device."""
        raise NotImplementedError

    def output(self, tensor: Any) -> Output:
        """The dtype of a tensor and its bytes, copied to the host."""
        raise NotImplementedError

    def dtype_of(self, tensor: Any) -> str:
        """The name of its dtype."""
        return str(tensor.dtype)

    def words(self, tensor: Any) -> Any:
        """The bits of a tensor as a flat int64 array on its device: a word for each four bytes, or for each element
        of fewer; None where the framework cannot do that.
        """
        return None

    def int64(self, data: bytes) -> Any:
        """An int64 array on the device."""
        raise NotImplementedError

    def rows(self, words: Any, width: int) -> Any:
        """A flat array in rows of that width."""
        return words.reshape(-1, width)

    def weighted(self, words: Any, weights: Any) -> list[int]:
        """The sum of every row of ``words`` (rows x n) times ``weights`` (n), modulo 2**64."""
        return [int(one) for one in (words * weights).sum(1).tolist()]

    def finish(self, results: list[Any]) -> None:
        """Waits for what was begun; only where calls return early."""

    def usable(self) -> bool:
        """Whether the device still computes: after an illegal access or an assertion in a kernel, nothing that this
        process asks of a GPU is done any more (CUDA's sticky errors).
        """
        if not self.gpu:
            return True
        try:
            self.sums(self.int64(bytes(8)))
        except Exception:  # noqa: BLE001 (whatever a framework makes of the driver's error)
            return False
        return True

    def elapsed(self, call: Callable[[], list[Any]], count: int) -> float:
        """Seconds that ``count`` calls take."""
        start = time.perf_counter()
        for _ in range(count):
            results = call()
        self.finish(results)
        return time.perf_counter() - start

    def mark(self, tensors: list[Any]) -> str:
        """A hash of the bits of tensors: values would hide -0.0 and trip over NaN."""
        state = hashlib.blake2b(digest_size=12)
        for one in tensors:
            sums = self.sums(one) if self.hashes_on_device else None
            if sums is None:
                dtype, data = self.output(one)
                state.update((dtype + str(len(data))).encode())
                state.update(data)
            else:
                state.update((self.dtype_of(one) + str(tuple(one.shape)) + str(sums)).encode())
        return state.hexdigest()

    def sums(self, tensor: Any) -> list[int] | None:
        """Hashes on the device, so that eight bytes a chunk come to the host and not all.

        Each is the sum of the words times odd random weights, modulo 2**64. Integer sums are the same in any order,
        yet words that change places change the sum: a word that differs shows for certain, several are missed with a
        chance of at most 2**-32 (multilinear hashing; Lemire and Kaser, "Strongly universal string hashing is fast",
        The Computer Journal 57, 2014, https://arxiv.org/abs/1202.4961).
        """
        words = self.words(tensor)
        if words is None:
            return None
        if self._weights is None:
            self._weights = self.int64(weights(CHUNK))
        count = int(words.shape[0])
        whole = count - count % CHUNK
        found: list[int] = []
        if whole:
            found += self.weighted(self.rows(words[:whole], CHUNK), self._weights)
        if count % CHUNK:
            found += self.weighted(self.rows(words[whole:], count % CHUNK), self._weights[: count % CHUNK])
        return found


def weights(count: int) -> bytes:
    """Odd 64-bit numbers that are the same in every process and framework, as bytes (little-endian)."""
    data = bytearray(hashlib.shake_128(str(SEED).encode()).digest(8 * count))
    for place in range(0, len(data), 8):
        data[place] |= 1
    return bytes(data)


def drawn(np: Any, spec: Json, seed: int) -> Any:
    """The elements of an input as a NumPy array of float64 or int64."""
    draw, kind, shape = np.random.default_rng(seed), spec["values"], spec["shape"]
    if kind == "normal":
        return draw.standard_normal(shape)
    if kind == "uniform":
        return draw.uniform(spec["low"], spec["high"], shape)
    if kind in ("zeros", "ones"):
        return np.full(shape, float(kind == "ones"))
    value = draw.integers(0, spec["below"], shape)
    return np.sort(value, axis=0) if kind == "sorted-index" else value


def array_words(np: Any, array: Any) -> Any:
    """The bits of a NumPy-like array as its flat int64 words."""
    flat = np.ascontiguousarray(array).reshape(-1)
    narrow = {1: np.uint8, 2: np.int16}.get(flat.dtype.itemsize, np.int32)
    return flat.view(narrow).astype(np.int64)


def flattened(value: Any) -> list[Any]:
    """The tensors in nested lists, tuples and mappings; None is none."""
    value = list(value.values()) if isinstance(value, dict) else value
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in flattened(part)]
    return [] if value is None else [value]
