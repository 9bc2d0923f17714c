"""Sources of kernels in languages that are not looked at, named so that nobody takes them for clean."""

from __future__ import annotations

import re

from d9mlint.discover import may_hold_kernels
from d9mlint.kernels.source.looks import Look, ending
from d9mlint.kernels.source.repository import SUFFIXES

_LANGUAGES = {
    ".metal": "Metal", ".cl": "OpenCL", ".comp": "GLSL", ".glsl": "GLSL", ".hlsl": "HLSL", ".wgsl": "WGSL",
    ".slang": "Slang",
}  # fmt: skip
_TOP = 4000
"""Bytes of a source in which its first ``#include`` lines stand."""
_GENERAL = {".jl": "Julia", ".mojo": "Mojo"}
"""Languages in which not only kernels are written."""
_IN_GENERAL = re.compile(rb"@cuda\b|@kernel\b|\bCUDA\b|\bgpu\b")
_ATOMIC = re.compile(rb"@atomic\b|\b[Aa]tomic(?:_|\[|\.)\w+")
_KERNEL = re.compile(rb"^[ \t]*@[\w.]*\b(?:kernel|prim_func)\b", re.MULTILINE)
_IN_SYCL = re.compile(rb"\batomic_ref\b|\batomic[A-Z_]\w*\s*[(<]|\bsycl_atomic\w*")
"""Atomics of SYCL, and functions named for those that a project wraps around them."""
_CALLED = re.compile(rb"\batomic_\w+\s*\(")
_IN_CYTHON = re.compile(rb"\batomic[A-Z]\w*\s*\(|\b(?:atom|red)\.(?:global|shared)\b|\bcuda::(?:std::)?atomic")


def _language(path: str, data: bytes) -> str:
    if path.endswith(".pyx"):
        return "CUDA in Cython" if _IN_CYTHON.search(data) is not None else ""
    if path.endswith(".py"):
        unknown = b"atomic_" in data and not may_hold_kernels(data)
        decorated = unknown and _CALLED.search(data) is not None and _KERNEL.search(data) is not None
        return "a kernel language in Python that is not known here" if decorated else ""
    if ending(path) in _GENERAL:
        spoken = _ATOMIC.search(data) is not None and _IN_GENERAL.search(data) is not None
        return _GENERAL[ending(path)] if spoken else ""
    language = _LANGUAGES.get(ending(path))
    if language is not None:
        return language if b"tom" in data or b"Interlocked" in data else ""
    return "SYCL" if b"atomic" in data and _is_sycl(data) else ""


def _is_sycl(data: bytes) -> bool:
    """Whether the top of a source is SYCL's, or it names SYCL further below and uses atomics, too."""
    if data.find(b"/sycl.hpp", 0, _TOP) >= 0 or data.find(b"sycl::", 0, _TOP) >= 0:
        return True
    spoken = data.find(b"sycl::", _TOP) >= 0 or b"syclcompat::" in data
    return spoken and _IN_SYCL.search(data) is not None


FOREIGN = Look((*SUFFIXES, *_LANGUAGES, *_GENERAL, ".pyx", ".py"), _language)
"""The language of sources with atomics in Metal, OpenCL, SYCL or a shading language, in strings of Cython, in Julia and
Mojo, and of kernels in Python in a language that nothing here reads."""
