"""Digests of tensors: of the bytes on the CPU; elsewhere a sum of integers, which any order of additions gives.

Each element's bits are mixed with its position before they are summed: a plain sum or XOR would take a permutation for
the same tensor. The mixing is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

import ctypes
from typing import Any

from .hashing import blake, hasher, total

_SMALL = 2**16
"""Bytes of tensors that are copied to be hashed."""
_COMPARED = 2**14
"""Bytes of tensors that are copied to be compared."""
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
_copy = ctypes.pythonapi.PyBytes_FromStringAndSize
_copy.restype = ctypes.py_object
_copy.argtypes = (ctypes.c_void_p, ctypes.c_ssize_t)


class Digests:
    """Digests of the tensors of one imported PyTorch; ``summed``: as on a GPU, wherever they are."""

    def __init__(self, torch: Any, summed: bool = False) -> None:
        self._torch, self._summed = torch, summed
        self.hash = hasher()
        self._plain = (torch.Tensor, torch.nn.Parameter)
        self._tensor, self._strided = torch.Tensor, torch.strided
        self._sized = hasattr(torch.Tensor, "nbytes")  # since 2.0

    def __call__(self, tensor: Any) -> str:
        """The digest of one tensor: of its values, whatever their layout in memory."""
        if self._at_hand(tensor):
            return self.hash(_memory(tensor))
        if not self.readable(tensor):
            return OPAQUE
        if tensor.device.type != "cpu" or self._summed:
            return "%016x" % (int(self.summed(tensor).item()) % 2**64)
        whole = self._whole(tensor)
        return self.hash(_memory(whole))

    def _at_hand(self, tensor: Any) -> bool:
        """Whether its values lie one behind the other in memory that can be read here: most do."""
        plain = tensor.is_cpu and type(tensor) in self._plain and tensor.layout is self._strided and not self._summed
        return bool(plain and tensor.is_contiguous() and not (tensor.is_neg() or tensor.is_conj()))

    def bits_of(self, tensor: Any) -> Any:
        """What tells whether another tensor has the same bits (`same`): bytes of a small one, else itself.

        None for one that cannot be read.
        """
        if self._at_hand(tensor):
            size = tensor.nbytes if self._sized else tensor.numel() * tensor.element_size()
            return _copy(tensor.data_ptr(), size) if size <= _COMPARED else tensor
        return tensor if self.readable(tensor) else None

    def same(self, one: Any, other: Any) -> bool:
        """Whether two tensors, or the bytes of small ones, have the same bits: cheaper than to hash both."""
        if not (isinstance(one, self._tensor) and isinstance(other, self._tensor)):
            return bool(one == other)
        if (one.dtype, one.shape, one.device) != (other.dtype, other.shape, other.device):
            return False
        return bool(self._torch.equal(self.bits(one), self.bits(other)))

    def several(self, tensors: list[Any]) -> str:
        """One digest of many tensors; from a device they come back at once."""
        near = [one for one in tensors if one.device.type == "cpu" and not self._summed]
        far = [one for one in tensors if one.device.type != "cpu" or self._summed]
        parts = [self(one) for one in near]
        sums = [self.summed(one) for one in far if self.readable(one)]
        if sums:
            home = sums[0].device
            parts += ["%016x" % (n % 2**64) for n in self._torch.stack([one.to(home) for one in sums]).tolist()]
        return parts[0] if len(parts) == 1 else blake("".join(parts).encode())

    def joined(self, tensors: list[Any]) -> bytes:
        """The bytes of small tensors of one type one behind the other, to be hashed at once; empty for others."""
        if self._summed or not 1 < len(tensors) <= _MANY:
            return b""
        dtype = tensors[0].dtype
        for one in tensors:
            if one.dtype is not dtype or one.numel() > _FEW or not self._at_hand(one):
                return b""
        return b"".join(map(_memory, tensors))

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
        return blake(b"".join(sorted(data[n : n + width] for n in range(0, len(data), width))))

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
    return _copy(tensor.data_ptr(), size) if size <= _SMALL else _view(tensor.data_ptr(), size, _READ)
