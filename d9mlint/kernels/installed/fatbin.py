"""Fat binaries: how nvcc stores GPU code in a library, for several architectures, packed or not.

The format is not documented; what is read here was worked out by others and agrees with NVIDIA's ``cuobjdump`` on the
wheels of TensorFlow 2.21 and PyTorch 2.15. Sources: github n-eiling/cuda-fatbin-decompression (headers, LZ4),
GrigoryEvko/nvopen-tools ``fatbin/FORMAT_SPECIFICATION.md`` (zstd), ``fatbinary_section.h`` of the CUDA toolkit.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.installed.elf import Damaged, Data

MAGIC = b"\x50\xed\x55\xba"
SECTIONS = (".nv_fatbin", "__nv_relfatbin")
EXTRA = "d9mlint[installed]"
"""The extra with what unpacks compressed code."""
_CONTAINER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_KINDS = {1: "ptx", 2: "cubin"}
_LZ4, _ZSTD = 0x2000, 0x8000
_LARGEST = 1 << 30
"""Bytes of one unpacked piece; the largest of the wheels above has 30 million."""


class NotRead(Exception):
    """A piece of GPU code could not be read; the text says why."""


class Piece(NamedTuple):
    """One PTX text or cubin in a container (a container is what one source file became)."""

    container: int
    """Counted from 1, as ``cuobjdump`` counts."""
    kind: str
    """``ptx``, ``cubin`` or ``other``."""
    arch: int
    """``90`` for sm_90."""
    offset: int
    size: int
    unpacked: int
    packing: str
    """``lz4``, ``zstd`` or empty."""

    @property
    def name(self) -> str:
        """``17.sm_90.ptx``: the ending of the name under which ``cuobjdump`` extracts it."""
        return f"{self.container}.sm_{self.arch}.{self.kind}"


def pieces(data: Data, start: int, size: int, first: int = 1) -> Iterator[Piece]:
    """The pieces in a range of a file, in its order; only headers are read. ``first`` numbers the first container.

    Raises:
        Damaged: a header points outside its range; what came before is good.
    """
    at, end = start, start + size
    number = first
    while (at := data.find(MAGIC, at, end)) >= 0:  # containers are aligned, with zeros between them
        if at + _CONTAINER.size > end:
            raise Damaged(f"container {number} of GPU code is cut off")
        _, _, header, length = _CONTAINER.unpack_from(data, at)
        if header < _CONTAINER.size or at + header + length > end:
            raise Damaged(f"container {number} of GPU code is cut off")
        yield from _entries(data, at + header, at + header + length, number)
        at += header + length
        number += 1


def _entries(data: Data, at: int, end: int, number: int) -> Iterator[Piece]:
    while at < end:
        if at + _ENTRY.size > end:
            raise Damaged(f"an entry of container {number} of GPU code is cut off")
        kind, _, header, padded, packed, _, _, _, arch, _, _, flags, _, unpacked = _ENTRY.unpack_from(data, at)
        if header < _ENTRY.size or at + header + padded > end or packed > padded:
            raise Damaged(f"an entry of container {number} of GPU code is cut off")
        packing = "lz4" if flags & _LZ4 else "zstd" if flags & _ZSTD else ""
        size = packed if packing and packed else padded
        yield Piece(number, _KINDS.get(kind, "other"), arch, at + header, size, unpacked if packing else size, packing)
        at += header + padded


def content(data: Data, piece: Piece) -> bytes:
    """The bytes of a piece, unpacked.

    Raises:
        NotRead: the package that unpacks it is not installed, it is damaged or larger than a gigabyte.
    """
    if piece.unpacked > _LARGEST:
        raise NotRead(f"GPU code that claims to unpack to {piece.unpacked:,} bytes")
    packed = data[piece.offset : piece.offset + piece.size]
    if piece.packing == "lz4":
        return _lz4(packed, piece.unpacked)
    if piece.packing == "zstd":
        return _zstd(packed, piece.unpacked)
    return packed


def _lz4(packed: bytes, size: int) -> bytes:
    try:
        import lz4.block
    except ImportError:
        raise NotRead(f"GPU code compressed by LZ4: install `{EXTRA}` to read it") from None
    try:
        return bytes(lz4.block.decompress(packed, uncompressed_size=size))
    except (lz4.block.LZ4BlockError, ValueError, OverflowError, MemoryError):
        raise NotRead("GPU code whose compressed bytes are damaged") from None


def _zstd(packed: bytes, size: int) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise NotRead(f"GPU code compressed by Zstandard: install `{EXTRA}` to read it") from None
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed) as stream:
            return stream.read(size)
    except (zstandard.ZstdError, ValueError, OverflowError, MemoryError):
        raise NotRead("GPU code whose compressed bytes are damaged") from None


def wanted(every: list[Piece]) -> list[Piece]:
    """What is read of each container: its newest PTX, else its cubins for the newest architecture.

    The other pieces hold the same kernels for other architectures.
    """
    chosen: list[Piece] = []
    for number in sorted({piece.container for piece in every}):
        inside = [piece for piece in every if piece.container == number]
        for kind in ("ptx", "cubin", "other"):
            alike = [piece for piece in inside if piece.kind == kind]
            if alike:
                newest = max(piece.arch for piece in alike)
                chosen += [piece for piece in alike if piece.arch == newest]
                break
    return chosen
