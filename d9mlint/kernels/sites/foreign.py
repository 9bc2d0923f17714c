"""Sources of kernels in languages that are not looked at, named so that nobody takes them for clean."""

from __future__ import annotations

import re

from d9mlint.kernels.source.looks import Look, ending
from d9mlint.kernels.source.repository import SUFFIXES

_LANGUAGES = {
    ".metal": "Metal", ".cl": "OpenCL", ".comp": "GLSL", ".glsl": "GLSL", ".hlsl": "HLSL", ".wgsl": "WGSL",
}  # fmt: skip
_TOP = 4000
"""Bytes of a source in which its first ``#include`` lines stand."""
_IN_CYTHON = re.compile(rb"\batomic[A-Z]\w*\s*\(|\b(?:atom|red)\.(?:global|shared)\b|\bcuda::(?:std::)?atomic")


def _language(path: str, data: bytes) -> str:
    if path.endswith(".pyx"):
        return "CUDA in Cython" if _IN_CYTHON.search(data) is not None else ""
    language = _LANGUAGES.get(ending(path))
    if language is not None:
        return language if b"tom" in data or b"Interlocked" in data else ""
    if data.find(b"/sycl.hpp", 0, _TOP) < 0 and data.find(b"sycl::", 0, _TOP) < 0:
        return ""
    return "SYCL" if b"atomic" in data else ""


FOREIGN = Look((*SUFFIXES, *_LANGUAGES, ".pyx"), _language)
"""The language of sources with atomics in Metal, OpenCL, SYCL or a shading language, and in strings of Cython."""
