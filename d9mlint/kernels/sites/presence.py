"""Whether a source names atomics or holds their assembler: by its bytes, without importing what parses it."""

from __future__ import annotations

import re

from d9mlint.kernels.source.looks import Look
from d9mlint.kernels.source.repository import KERNEL_SUFFIXES, PLAIN_SUFFIXES, SUFFIXES

NEEDLE = b"tom"
"""Every known name of an atomic holds it."""
ASSEMBLER = (b"asm", b"__asm__", b"__asm")
"""Keywords of inline assembler."""
_FILE_NEEDLE = b"tomic"
"""What sources with a known name hold, or what they include from (``#include <THC/THCAtomics.cuh>``)."""
_PTX_WORDS = (b"atom.", b"red.", b"cp.reduce.")
_START = re.compile(rb"(?:atom|red|multimem|cp\.reduce)(?:\.|[ \t]*\")")
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.%$")
_ESCAPES = (b"\\n", b"\\r", b"\\t")
_MODULE = re.compile(rb"\.version\s+\d")
_TURNS = re.compile(rb"\bSemaphore\s+\w+\s*[({]|\bBarrier(?:\s*<[^<>;{}()]*>)?\s*::\s*(?:arrive_inc|wait_(?:eq|lt))\b")
"""CUTLASS's semaphores and barriers between blocks (cutlass/semaphore.h, cutlass/barrier.h)."""
_BULK_NEEDLE = b"_REDUCE_"
BULK = re.compile(rb"\bSM\d+_(?:TMA|BULK)_REDUCE_(ADD|MIN|MAX|INC|DEC|AND|OR|XOR)\b")
"""CuTe's names for bulk copies that reduce (cute/arch/copy_sm90_tma.hpp): types that a copy is made of."""
_MADE = re.compile(rb"\b(\w+)\s*=\s*(?:\w+\s*::\s*)*make_tma_copy\w*\s*(?:<[^<>;(){}]*>\s*)?\(\s*\Z")
"""Before the type, the variable that gets the copy: ``auto tma_add = make_tma_copy(SM90_TMA_REDUCE_ADD{}, ...)``."""
_TEXT = re.compile(
    rb"(?<![\w.%$])(?:atom|red)\.(?:global|shared|relaxed|acquire|release|acq_rel|async|gpu|cta)\b[^\"\n]{0,80}[\[\"]"
)
"""An instruction and its address, or the end of a string."""
_MEMBER = re.compile(rb"(?:\.|->)\s*(?:fetch_(?:add|sub|min|max|and|or|xor)|compare_exchange_(?:strong|weak))\s*\(")
_DEVICE = (b"__device__", b"__global__")
_MARKER = re.compile(
    rb"\b(?:cuda::(?:std::)?|sycl::(?:ext::oneapi::|ONEAPI::)?)(?:atomic|memory_order)|\w_atomic_ref\s*[<(]"
    rb"|\batomic_ref\s*<"
)


_SCATTERED = (b"ScatterView", b"scatter_view")


def _kinds(path: str, data: bytes) -> tuple[str, ...]:
    if path.endswith(".ptx"):
        return ("module",) if any(word in data for word in _PTX_WORDS) else ()
    kinds = []
    if _FILE_NEEDLE in data or (path.endswith(KERNEL_SUFFIXES) and NEEDLE in data) or _called_on_device(data):
        kinds.append("named")
    if b"Kokkos" in data and views_in(data):
        kinds.append("views")
    # The assembler of a plain C++ source is the host's, unless the source names atomics.
    device = kinds or not path.endswith(PLAIN_SUFFIXES) or path.endswith(KERNEL_SUFFIXES) or b"__device__" in data
    if device and b"asm" in data and in_assembler(data):
        kinds.append("assembler")
    # What writes PTX as text does so on the host.
    if (b"red." in data or b"atom." in data) and _TEXT.search(data) is not None:
        kinds.append("written")
    if (b"emaphore" in data or b"Barrier" in data) and _TURNS.search(data) is not None:
        kinds.append("turns")
    if _BULK_NEEDLE in data and BULK.search(data) is not None:
        kinds.append("bulk")
    # A PTX module begins with its version (PTX ISA, "PTX Module Directives").
    if is_module(data) and any(word in data for word in _PTX_WORDS):
        kinds.append("module")
    return tuple(kinds)


ATOMICS = Look(SUFFIXES, _kinds, again=True)
"""How a source may hold atomics: ``named``, in inline ``assembler``, in a ``module`` of PTX, as ``bulk`` reductions.

``views``: by Kokkos' views. ``turns``: by semaphores and barriers between blocks. ``written``: in strings that are no
assembler of the source itself.
"""


def bulk_uses(data: bytes, before: bytes) -> list[tuple[int, int]]:
    """Where a source uses the copy that is made, by what stands before its type: ``copy(params.tma_add, from, to)``."""
    made = _MADE.search(before)
    if made is None:
        return []
    used = re.compile(rb"\bcopy\s*\(\s*(?:\w+\s*(?:\.|->)\s*)*" + re.escape(made[1]) + rb"\b")
    return [(match.start(), match.start() + len(b"copy")) for match in used.finditer(data)]


def in_assembler(data: bytes) -> bool:
    """Whether a source may hold inline assembler with an atomic instruction: whether one starts somewhere in its text.

    It may start behind an escape (``"\\tred.global"``), and the rest of its name may be in another piece of a string.
    """
    if b"red" not in data and b"atom" not in data:
        return False
    starts = (match.start() for match in _START.finditer(data))
    return any(not at or data[at - 1] not in _LETTERS or data[at - 2 : at] in _ESCAPES for at in starts)


def is_module(text: bytes) -> bool:
    """Whether this is PTX and no prose."""
    return _MODULE.search(text) is not None


def views_in(data: bytes) -> bool:
    """Whether a source names Kokkos' atomic views, or those that scatter."""
    return any(word in data for word in _SCATTERED) or (b"MemoryTraits" in data and b"Atomic" in data)


def members_in(data: bytes) -> bool:
    """Whether a source may use ``cuda::atomic``, ``cuda::atomic_ref`` or a class like it (``sycl::atomic_ref``).

    It names one, or calls a member of one beside device code: the object may be declared in a header.
    """
    named = any(word in data for word in (b"cuda::", b"sycl::", b"atomic_ref")) and _MARKER.search(data) is not None
    return named or _called_on_device(data)


def _called_on_device(data: bytes) -> bool:
    """Whether a source with device code calls a member that only atomics have."""
    called = (b"fetch_" in data or b"compare_exchange_" in data) and _MEMBER.search(data) is not None
    return called and any(word in data for word in _DEVICE)
