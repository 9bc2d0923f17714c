"""Digests of tensors: of the bytes on the CPU; elsewhere a sum of integers, which any order of additions gives.

Each element's bits are mixed with its position before they are summed: a plain sum or XOR would take a permutation for
the same tensor. The mixing is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

import ctypes
import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_GOLDEN = -7046029254386353131  # 0x9e3779b97f4a7c15
_FIRST, _SECOND = -4658895280553007687, -7723592293110705685  # 0xbf58476d1ce4e5b9, 0x94d049bb133111eb
_SMALL, _SHORT = 2**16, 2**10
"""Bytes of tensors that are copied to be hashed, and those that SHA-1 is not worth its start for."""
_MANY, _FEW = 500, 2**14
"""Tensors, and elements of each of them, that are put together to be hashed at once."""
_BAG = 2**16
"""Elements up to which it is also told whether others hold the same ones in another order."""
OPAQUE = "?"
"""Instead of a digest: a tensor that has no bytes to be read (sparse, of a subclass, on the meta device)."""
_view = ctypes.pythonapi.PyMemoryView_FromMemory
_view.restype = ctypes.py_object
_view.argtypes = (ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int)
_READ = 0x100


def _blake(data: Any) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def _plain(data: Any) -> str:
    """BLAKE2b; for more data SHA-1, which processors have instructions for: twice as fast, and not attacked here."""
    return _blake(data) if len(data) <= _SHORT else hashlib.sha1(data).hexdigest()[:16]


def hasher() -> Callable[[Any], str]:
    """xxhash where the environment has it: it is ten times as fast."""
    try:
        import xxhash  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return _plain
    return lambda data: str(xxhash.xxh3_64_hexdigest(data))


class Digests:
    """Digests of the tensors of one imported PyTorch; ``summed``: as on a GPU, wherever they are."""

    def __init__(self, torch: Any, summed: bool = False) -> None:
        self._torch, self._summed = torch, summed
        self._hash = hasher()
        self._plain = (torch.Tensor, torch.nn.Parameter)

    def __call__(self, tensor: Any) -> str:
        """The digest of one tensor: of its values, whatever their layout in memory."""
        if not self.readable(tensor):
            return OPAQUE
        if tensor.device.type != "cpu" or self._summed:
            return "%016x" % (int(self.summed(tensor).item()) % 2**64)
        whole = self._whole(tensor)
        return self._hash(_memory(whole))

    def several(self, tensors: list[Any]) -> str:
        """One digest of many tensors; from a device they come back at once."""
        near = [one for one in tensors if one.device.type == "cpu" and not self._summed]
        far = [one for one in tensors if one.device.type != "cpu" or self._summed]
        parts = [self(one) for one in near]
        sums = [self.summed(one) for one in far if self.readable(one)]
        if sums:
            home = sums[0].device
            parts += ["%016x" % (n % 2**64) for n in self._torch.stack([one.to(home) for one in sums]).tolist()]
        return parts[0] if len(parts) == 1 else _blake("".join(parts).encode())

    def flat(self, tensors: list[Any]) -> Any:
        """Small tensors of one type one behind the other, to be hashed at once; None for others."""
        if self._summed or not 1 < len(tensors) <= _MANY:
            return None
        dtype = tensors[0].dtype
        for one in tensors:
            if one.dtype != dtype or one.device.type != "cpu" or one.numel() > _FEW or not self.readable(one):
                return None
        if dtype.is_complex:
            return None
        return self._torch.cat([one.detach().reshape(-1) for one in tensors])

    def readable(self, tensor: Any) -> bool:
        """Whether it has bytes of its own that can be read."""
        torch = self._torch
        plain = type(tensor) in self._plain or type(tensor).__torch_dispatch__ is torch.Tensor.__torch_dispatch__
        return bool(plain and tensor.layout is torch.strided and tensor.device.type != "meta")

    @staticmethod
    def _whole(tensor: Any) -> Any:
        """The tensor's values, one behind the other."""
        tensor = tensor.detach()
        if tensor.is_conj() or tensor.is_neg():
            tensor = tensor.resolve_conj().resolve_neg()
        return tensor.contiguous()

    def bag(self, tensor: Any) -> str:
        """A digest that is the same for the same elements in any order; empty for large tensors."""
        if not self.readable(tensor) or tensor.device.type != "cpu" or tensor.numel() > _BAG:
            return ""
        whole = self._whole(tensor)
        data, width = bytes(_memory(whole)), tensor.element_size()
        return _blake(b"".join(sorted(data[n : n + width] for n in range(0, len(data), width))))

    def summed(self, tensor: Any) -> Any:
        """The sum of the mixed elements, a tensor of no dimensions where the tensor is."""
        bits = self.bits(tensor).to(self._torch.int64)
        return total(bits, self._torch.arange(1, bits.numel() + 1, device=bits.device))

    def bits(self, tensor: Any) -> Any:
        """The tensor's elements, one behind the other, as whole numbers of their size."""
        torch = self._torch
        tensor = tensor.detach().resolve_conj().resolve_neg()
        if tensor.is_complex():
            tensor = torch.view_as_real(tensor)
        kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
        return tensor.contiguous().reshape(-1).view(kinds[tensor.element_size()])


def _memory(tensor: Any) -> Any:
    """The bytes of a contiguous tensor; those of a large one are not copied, so it must outlive them."""
    size = tensor.numel() * tensor.element_size()
    return ctypes.string_at(tensor.data_ptr(), size) if size <= _SMALL else _view(tensor.data_ptr(), size, _READ)


def total(bits: Any, positions: Any) -> Any:
    """The sum of the elements' bits, each mixed with its position; whole numbers of 64 bits that wrap around."""
    return _mixed(bits ^ _mixed(positions * _GOLDEN)).sum()


def _mixed(bits: Any) -> Any:
    """SplitMix64's finaliser; shifts of signed integers fill with the sign, so it is masked away."""
    bits = (bits ^ ((bits >> 30) & (2**34 - 1))) * _FIRST
    bits = (bits ^ ((bits >> 27) & (2**37 - 1))) * _SECOND
    return bits ^ ((bits >> 31) & (2**33 - 1))
