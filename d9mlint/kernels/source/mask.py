"""Hides from the C++ grammar what CUDA and its users add to the language; every byte keeps its place."""

from __future__ import annotations

import re

_WORDS = re.compile(
    rb"\b(?:__global__|__device__|__host__|__shared__|__constant__|__managed__|__forceinline__|__noinline__|__inline__"
    rb"|__grid_constant__|__restrict__|__restrict|RESTRICT"
    rb"|(?:__launch_bounds__|__align__|__maxnreg__|__cluster_dims__|__block_size__)"
    rb"\s*\([^()]*(?:\([^()]*\)[^()]*){0,8}\)"
    rb"|[A-Z0-9]*_?(?:EIGEN|C10|CUTLASS|CUTE|GPU|TF|AT|PD|MMCV)_(?:[A-Z0-9]+_)*"
    rb"(?:(?:FUNC|INLINE|HOST|DEVICE|HOST_DEVICE|STRONG_INLINE|ALWAYS_INLINE|LAMBDA)\b"
    rb"|LAUNCH_BOUNDS_[0-9]\s*\([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*){0,4}\)[^()]*){0,4}\)))"
)
_VISIBLE = re.compile(rb"[^\r\n]")
_LAUNCH = re.compile(rb"<<<(?!<)[^;{}]{0,600}?>>>")
_EMPTY = re.compile(rb"^[ \t]*#[ \t]*if[^\n]*\n(?:[ \t]*\r?\n){1,3}[ \t]*#[ \t]*endif[^\r\n]*", re.MULTILINE)
"""Between ``template <...>`` and its kernel (launch bounds for one platform) it would tear them apart."""
_NEVER = re.compile(rb"#[ \t]*if[ \t]+(?:0|false)\b[^\n]*")
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b", re.MULTILINE)


def masked(data: bytes) -> bytes:
    """The same number of bytes in the same lines, with CUDA's words, launch configurations and dead code blank."""
    for start, end in dead(data):
        data = data[:start] + _VISIBLE.sub(b" ", data[start:end]) + data[end:]
    return _LAUNCH.sub(_blank, _EMPTY.sub(_blank, _WORDS.sub(_blank, data)))


def dead(data: bytes) -> list[tuple[int, int]]:
    """The ranges of bytes that ``#if 0`` takes out, up to its ``#else``, ``#elif`` or ``#endif``."""
    found: list[tuple[int, int]] = []
    at = 0
    while (never := _NEVER.search(data, at)) is not None:
        depth = 1
        at = end = len(data)
        for condition in _CONDITION.finditer(data, never.end()):
            word = condition[1]
            depth += (word in (b"if", b"ifdef", b"ifndef")) - (word == b"endif")
            if depth == 0 or (depth == 1 and word in (b"else", b"elif")):
                at = end = condition.start()
                break
        found.append((never.end(), end))
    return found


def _blank(match: re.Match[bytes]) -> bytes:
    return _VISIBLE.sub(b" ", match[0])
