"""Sources of kernels in languages that are not looked at, named so that nobody takes them for clean."""

from __future__ import annotations

import re

from d9mlint.discover import may_hold_kernels
from d9mlint.kernels.source.looks import Look, ending

_LANGUAGES = {
    ".metal": "Metal", ".cl": "OpenCL", ".comp": "GLSL", ".glsl": "GLSL", ".hlsl": "HLSL", ".wgsl": "WGSL",
    ".slang": "Slang",
}  # fmt: skip
_GENERAL = {".jl": "Julia", ".mojo": "Mojo"}
"""Languages in which not only kernels are written."""
_IN_GENERAL = re.compile(rb"@cuda\b|@kernel\b|\bCUDA\b|\bgpu\b")
_ATOMIC = re.compile(rb"@atomic\b|\b[Aa]tomic(?:_|\[|\.)\w+")
_KERNEL = re.compile(rb"^[ \t]*@[\w.]*\b(?:kernel|prim_func)\b", re.MULTILINE)
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
    return language if language is not None and (b"tom" in data or b"Interlocked" in data) else ""


FOREIGN = Look((*_LANGUAGES, *_GENERAL, ".pyx", ".py"), _language)
"""The language of sources with atomics in Metal, OpenCL or a shading language, in strings of Cython, in Julia and
Mojo, and of kernels in Python in a language that nothing here reads."""
