"""The section table of 64-bit ELF files: host libraries and cubins.

Only names, offsets and sizes are wanted, from files of gigabytes that may be damaged; hence no general ELF library.
Source: System V ABI, "Object Files" (https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.sheader.html).
"""

from __future__ import annotations

import mmap
import struct
from typing import NamedTuple

Data = bytes | mmap.mmap
"""What is read: a piece in memory, or a file mapped into it."""
MAGIC = b"\x7fELF"
CUDA = 190
"""``e_machine`` of a cubin (EM_CUDA in binutils' ``include/elf/common.h``)."""
_HEADER = 64
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NOBITS = 8
_LONGEST_NAME = 65_536


class Damaged(ValueError):
    """The bytes are not what they claim to be; the text says in what way."""


class Section(NamedTuple):
    """A section that has bytes in the file."""

    name: str
    offset: int
    size: int


def machine(data: Data) -> int:
    """``e_machine`` of an ELF file.

    Raises:
        Damaged: not a whole header, not 64-bit little-endian.
    """
    if len(data) < _HEADER or data[:4] != MAGIC:
        raise Damaged("no ELF file")
    if data[4:6] != b"\x02\x01":
        raise Damaged("no 64-bit little-endian ELF file")
    return int(struct.unpack_from("<H", data, 18)[0])


def sections(data: Data, start: str = "") -> list[Section]:
    """The sections whose names begin with ``start``, in the order of the table.

    Raises:
        Damaged: the table or a section does not lie inside the file.
    """
    machine(data)
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count, names_at = struct.unpack_from("<HHH", data, 58)
    if not table:
        return []
    if size != _SECTION.size or table + size > len(data):
        raise Damaged("the ELF section table does not lie inside the file (cut off?)")
    first = _SECTION.unpack_from(data, table)
    count = count or first[5]  # more sections than 16 bits can count
    names_at = first[6] if names_at == 0xFFFF else names_at
    if table + count * size > len(data) or names_at >= count:
        raise Damaged("the ELF section table does not lie inside the file (cut off?)")
    _, _, _, _, text, text_size, *_ = _SECTION.unpack_from(data, table + names_at * size)
    names = data[text : text + text_size]
    found = []
    for number in range(count):
        name, kind, _, _, offset, length, *_ = _SECTION.unpack_from(data, table + number * size)
        called = _name(names, name)
        if kind == _NOBITS or not called.startswith(start):
            continue
        if offset + length > len(data):
            raise Damaged(f"section {called} does not lie inside the file (cut off?)")
        found.append(Section(called, offset, length))
    return found


def _name(names: bytes, at: int) -> str:
    end = names.find(b"\0", at, at + _LONGEST_NAME)
    return names[at:end].decode("utf-8", "replace") if end >= 0 else ""
