"""Hides from the C++ grammar what CUDA and its users add to the language; every byte keeps its place."""

from __future__ import annotations

import re

# Two patterns, since each then starts with letters by which the search skips ahead, or is not needed.
_WORDS = re.compile(
    rb"__(?<!\w__)(?:global__|device__|host__|shared__|constant__|managed__|forceinline__|noinline__|inline__"
    rb"|grid_constant__|restrict__|restrict"
    rb"|(?:launch_bounds__|align__|maxnreg__|cluster_dims__|block_size__)"
    rb"\s*\([^()]*(?:\([^()]*\)[^()]*){0,8}\))"
)
_MACROS = re.compile(
    rb"\b(?:RESTRICT|[A-Z0-9]*_?(?:EIGEN|C10|CUTLASS|CUTE|GPU|TF|AT|PD|MMCV)_(?:[A-Z0-9]+_)*"
    rb"(?:(?:FUNC|INLINE|HOST|DEVICE|HOST_DEVICE|STRONG_INLINE|ALWAYS_INLINE|LAMBDA)\b"
    rb"|LAUNCH_BOUNDS_[0-9]\s*\([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*){0,4}\)[^()]*){0,4}\)))"
)
_MACRO_WORDS = (b"RESTRICT", b"_FUNC", b"INLINE", b"_HOST", b"_DEVICE", b"_LAMBDA", b"_LAUNCH_BOUNDS_")
"""What stands in every name of ``_MACROS``."""
_VISIBLE = re.compile(rb"[^\r\n]")
_LAUNCH = re.compile(rb"<<<(?!<)[^;{}]{0,600}?>>>")
_EMPTY = re.compile(rb"#[ \t]*if[^\n]*\n(?:[ \t]*\r?\n){1,3}[ \t]*#[ \t]*endif[^\r\n]*")
"""Between ``template <...>`` and its kernel (launch bounds for one platform) it would tear them apart."""
_NEVER = re.compile(rb"#[ \t]*if[ \t]+(?:0|false)\b[^\n]*")
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b", re.MULTILINE)


def masked(data: bytes, hidden: frozenset[bytes] = frozenset()) -> bytes:
    """The same number of bytes in the same lines, with CUDA's words, launch configurations and dead code blank.

    ``hidden`` are macros that stand for such words only; in directives they stay.
    """
    for start, end in dead(data):
        data = data[:start] + _VISIBLE.sub(b" ", data[start:end]) + data[end:]
    data = _WORDS.sub(_blank, data)
    if any(word in data for word in _MACRO_WORDS):
        data = _MACROS.sub(_blank, data)
    named = [name for name in sorted(hidden) if name in data]
    if named:
        pattern = re.compile(rb"^[ \t]*#(?:[^\n\\]|\\\r?\n|\\.)*|\b(?:" + b"|".join(named) + rb")\b", re.MULTILINE)
        data = pattern.sub(_blank_word, data)
    return _LAUNCH.sub(_blank, _EMPTY.sub(_blank_lines, data))


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


def _blank_word(match: re.Match[bytes]) -> bytes:
    """As ``_blank``, but of directives."""
    return match[0] if match[0].lstrip().startswith(b"#") else b" " * len(match[0])


def _blank_lines(match: re.Match[bytes]) -> bytes:
    """As ``_blank`` where nothing stands on the line before."""
    before = match.string[match.string.rfind(b"\n", 0, match.start()) + 1 : match.start()]
    return match[0] if before.strip(b" \t") else _blank(match)
