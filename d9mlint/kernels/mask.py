"""Hides from the C++ grammar what CUDA and its users add to the language; every byte keeps its place."""

from __future__ import annotations

import re

_WORDS = re.compile(
    rb"\b(?:__global__|__device__|__host__|__shared__|__constant__|__managed__|__forceinline__|__noinline__|__inline__"
    rb"|__restrict__|__restrict|RESTRICT"
    rb"|__launch_bounds__\s*\([^()]*(?:\([^()]*\)[^()]*)*\)|__align__\s*\([^()]*\)|__maxnreg__\s*\([^()]*\)"
    rb"|[A-Z0-9]*_?(?:EIGEN|C10|CUTLASS|GPU|TF|AT|PD|MMCV)_(?:[A-Z0-9]+_)*"
    rb"(?:FUNC|INLINE|HOST|DEVICE|HOST_DEVICE|STRONG_INLINE|ALWAYS_INLINE|LAUNCH_BOUNDS_[0-9])\b(?:\s*\([^()]*\))?)"
)
_LAUNCH = re.compile(rb"<<<(.{0,600}?)>>>", re.DOTALL)


def masked(data: bytes) -> bytes:
    """The same number of bytes in the same lines, with CUDA's words and launch configurations blank."""
    return _LAUNCH.sub(_blank, _WORDS.sub(_blank, data)) if b"__" in data or b"_" in data else data


def _blank(match: re.Match[bytes]) -> bytes:
    return re.sub(rb"[^\r\n]", b" ", match[0])
